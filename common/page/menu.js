// The context menu of a box with its keys, and the bar of the edits made so far.

// Keys, verbs of edits or names of acts, and words; NAME stands for the function, ROOT for its process.
const MENU = [
	['F', 'focus', 'Only stacks with NAME'],
	['X', 'drop', 'No stacks with NAME'],
	['M', 'merge', 'Merge NAME into its callers'],
	['T', 'only', 'ROOT'],
	['R', 'collapse', 'Collapse recursion'],
	['H', 'hide', 'Hide sleepers'],
	null,
	['Enter', 'zoom', 'Zoom'],
	['s', 'sandwich', 'Callers and callees'],
	['', 'find', 'Search for NAME'],
	null,
	['c', 'copy', 'Copy the name'],
	['C', 'copyStack', 'Copy the stack'],
	['e', 'save', 'Download …'],
	null,
	['u', 'undo', 'Undo the last edit'],
	['U', 'undoAll', 'Undo all edits'],
];
const MENU_KEYS = Object.fromEntries(MENU.filter((item) => item && item[0].length === 1));
const LONG_PRESS_MS = 500, PRESS_SLACK = 10; // pixels

class Menu {
	constructor(app) {
		this.app = app;
		this.node = el('menu');
		this.node.addEventListener('keydown', (e) => this.key(e));
		this.node.addEventListener('focusout', (e) => {
			if (!this.node.contains(e.relatedTarget))
				this.close();
		});
		const graph = el('graph');
		graph.addEventListener('contextmenu', (e) => {
			// A browser's own long press may come before the timer of ours.
			this.pressed ||= this.touching;
			// The keyboard's event has no place of its own.
			const one = e.button === 2 || e.pointerType ? app.at(e) : null;
			this.openAt(e, one && !one.rest ? one.box : app.current());
		});
		el('tlong').addEventListener('contextmenu', (e) => {
			const row = e.target.closest('.row');
			if (row)
				this.openAt(e, app.boxOfLabel(app.table.rows[Number(row.dataset.row)]));
		});
		this.listenPress(graph);
	}

	// A long press of a finger; some browsers also send "contextmenu".
	listenPress(graph) {
		const stop = () => clearTimeout(this.timer);
		const lift = () => {
			this.touching = false;
			stop();
		};
		graph.addEventListener('pointerdown', (e) => {
			stop();
			this.pressed = false;
			this.touching = e.pointerType === 'touch';
			if (!this.touching)
				return;
			this.start = [e.clientX, e.clientY];
			this.timer = setTimeout(() => {
				const one = this.app.at(e);
				this.pressed = true;
				this.openAt(e, one && !one.rest ? one.box : null);
			}, LONG_PRESS_MS);
		});
		graph.addEventListener('pointermove', (e) => {
			const [x, y] = this.start || [e.clientX, e.clientY];
			if (Math.hypot(e.clientX - x, e.clientY - y) > PRESS_SLACK)
				stop();
		});
		for (const event of ['pointerup', 'pointercancel', 'pointerleave'])
			graph.addEventListener(event, lift);
		// Otherwise the lifted finger would be a click, which closes the menu and zooms.
		graph.addEventListener('touchend', (e) => {
			if (this.pressed)
				e.preventDefault();
		}, { passive: false });
	}

	openAt(e, box) {
		e.preventDefault();
		if (this.node.contains(document.activeElement))
			return;
		this.box = box;
		el('tip').hidden = true;
		const items = MENU.map((item) => item && this.item(item));
		this.show(items.filter((item) => item !== undefined), e.clientX, e.clientY);
	}

	// Opens at a box of the picture, for the keyboard.
	openAtFocus() {
		const { app } = this, box = app.current(), one = box && app.placed(box);
		const r = el('graph').getBoundingClientRect();
		const x = r.left + (one ? Math.max(0, one.x) + Math.min(one.w, 80) / 2 : 20);
		const y = r.top + (one ? (one.row + 1) * app.picture.rowHeight - app.top() : 20);
		this.openAt({ clientX: x, clientY: y, preventDefault() {} }, box);
	}

	// Returns a menu item, or undefined if it makes no sense here.
	item([key, act, words]) {
		const { app, box } = this;
		if (!app.canDo(act, box))
			return undefined;
		const name = box ? shown(fullName(app.p, box.label)) : '';
		const short = name.length > 48 ? `${name.slice(0, 47)}…` : name;
		const text = words === 'ROOT' ? app.rootWords(box) : words.replace('NAME', () => short);
		return this.button(text, key, () => app.act(act, box), act);
	}

	button(text, key, done, act) {
		const button = make('button', '', make('span', '', text), make('kbd', '', key));
		button.type = 'button';
		button.setAttribute('role', 'menuitem');
		button.dataset.do = act;
		button.addEventListener('click', () => {
			this.close();
			done();
		});
		return button;
	}

	// items: buttons; null is a line between groups
	show(items, x, y) {
		const { node } = this, rule = () => {
			const line = make('div', 'rule');
			line.setAttribute('role', 'separator');
			return line;
		};
		const rest = (i) => items.slice(i).some((item) => item);
		const kept = items.filter((item, i) => item || (i > 0 && items[i - 1] && rest(i)));
		node.replaceChildren(...kept.map((item) => item || rule()));
		node.hidden = false;
		const { clientWidth, clientHeight } = document.documentElement;
		node.style.left = `${Math.max(4, Math.min(x, clientWidth - node.offsetWidth - 4))}px`;
		node.style.top = `${Math.max(4, Math.min(y, clientHeight - node.offsetHeight - 4))}px`;
		node.querySelector('button').focus();
	}

	close() {
		if (this.node.hidden)
			return;
		const inside = this.node.contains(document.activeElement);
		this.node.hidden = true;
		if (inside)
			el('graph').focus({ preventScroll: true });
	}

	key(e) {
		const all = Array.from(this.node.querySelectorAll('button'));
		const at = all.indexOf(document.activeElement);
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[e.key];
		const item = all.find((one) => one.querySelector('kbd').textContent === e.key);
		e.stopPropagation();
		if (to !== undefined)
			all[(to + all.length) % all.length].focus();
		else if (e.key === 'Escape' || e.key === 'Tab')
			this.close();
		else if (item && e.key !== 'Enter')
			item.click();
		else
			return;
		e.preventDefault();
	}
}

// The acts of the menu.
class Acts extends Page {
	// Copies the frames from a box outwards, one a line.
	copyStack(box) {
		const path = pathOf(box), up = this.tree.up && this.inUp(box) && !box.twin;
		if (this.view === 'sandwich')
			path.unshift(this.of);
		if (this.view !== 'reverse' && !up)
			path.reverse();
		this.copied = path.map((label) => this.p.name(label)).join('\n');
		copyText(this.copied, () => this.say(`copied ${path.length} frames`));
	}

	// ---- edits

	setEdits(list) {
		this.set({ edit: editWords(this.p, list) });
		const words = list.map((edit) => sayEdit(this.p, edit));
		this.say(words.length ? words.join(', ').slice(0, 300) : 'no edits');
	}

	// Returns the label of a box's process or thread, if the box is in one only; otherwise -1.
	rootOf(box) {
		for (let at = box; at; at = at.parent)
			if (this.p.kind[at.label] === ROOT && at.label < this.p.labels)
				return at.label;
		return -1;
	}

	rootWords(box) {
		const name = shown(this.p.name(this.rootOf(box))).slice(0, 48);
		const [, pid, tid] = /(-\d+)(\/\d+)?$/.exec(name) || [];
		return `Only ${tid ? 'this thread: ' : pid ? 'this process: ' : ''}${name}`;
	}

	// A box for a function of the table, which has no place in the picture.
	boxOfLabel(label) {
		return { label, parent: null };
	}

	// Returns whether an act of the menu makes sense for a box, or for none.
	canDo(act, box) {
		const { p, edits } = this, named = box && box.label < p.labels;
		switch (act) {
		case 'merge':
			return named && p.kind[box.label] !== ROOT;
		case 'only':
			return box !== null && this.rootOf(box) >= 0;
		case 'collapse':
			return edits.length === 0 || edits[edits.length - 1][0] !== 'collapse';
		case 'hide':
			return p.kind.includes(SLEEPING) && !edits.some(([verb]) => verb === 'hide');
		case 'zoom':
			return box !== null && this.placed(box) !== null;
		case 'copyStack':
			return named && box.total !== undefined;
		case 'undo':
		case 'undoAll':
			return edits.length > (act === 'undo' ? 0 : 1);
		default:
			return act === 'save' || named;
		}
	}

	act(act, box) {
		const { edits } = this;
		if (Object.hasOwn(EDIT_VERBS, act)) {
			const own = HAS_LABEL.test(act) ? box.label : -1;
			const label = act === 'only' ? this.rootOf(box) : own;
			this.setEdits([...edits, [act, label]]);
			return;
		}
		const acts = {
			zoom: () => this.zoom(box), sandwich: () => this.sandwich(box.label),
			find: () => this.searchName(box.label), copy: () => this.copy(box),
			copyStack: () => this.copyStack(box), save: () => this.save(),
			undo: () => this.setEdits(edits.slice(0, -1)), undoAll: () => this.setEdits([]),
		};
		acts[act]();
	}
}

// The edits made so far, each with a button that takes it back.
function showEdits(app) {
	const { p, edits } = app, bar = el('edits');
	const chips = edits.map((edit, i) => {
		const words = sayEdit(p, edit), short = words.length > 60 ? `${words.slice(0, 59)}…` : words;
		const button = make('button', '', short, make('span', '', ' ×'));
		button.type = 'button';
		button.title = `${words}: undo`;
		button.addEventListener('click', () => app.setEdits(edits.filter((_, k) => k !== i)));
		return button;
	});
	const last = (text, act) => {
		const button = make('button', 'plain', text);
		button.type = 'button';
		button.addEventListener('click', () => app.act(act, null));
		return button;
	};
	if (edits.length > 1)
		chips.push(last('Undo', 'undo'), last('Undo all', 'undoAll'));
	bar.hidden = edits.length === 0;
	bar.replaceChildren(...chips);
}

// How much of the profile is shown, if not all of it.
function showPart(app) {
	const { p, all, seen, format } = app, whole = sameWeight(seen.sum, all.sum);
	const part = (sum, side) => `${format.weight(sum)} of ${format.weight(all.sum[side])}`
		+ ` (${sayPercent(all.sum[side] > 0 ? sum / all.sum[side] : 0)})`;
	el('part').hidden = whole;
	const words = `Shown: ${seen.sum.map(part).join(' → ')}${sayUnit(p.unit, 0)}; the ledger is of all`;
	el('part').textContent = whole ? '' : words;
}
