"""Drives Chromium by DevTools over a pipe; requires only python3 and chromium.

    from browser import Browser
    with Browser() as b:
        b.open('/tmp/page.html')
        b.wait('window.cprof && cprof.state')       # until it is true
        print(b.value('document.title'))            # the value of an expression; promises are awaited
        b.click(100, 50); b.key('Escape'); b.text('abc')
        b.screenshot('/tmp/page.png')
        print(b.errors, b.requests)                 # exceptions and console errors; requests to a network
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions',
         '--hide-scrollbars', '--mute-audio',
         '--disable-dev-shm-usage', '--force-color-profile=srgb', '--remote-debugging-pipe']
KEYS = {'Enter': 13, 'Escape': 27, 'Backspace': 8, 'Tab': 9, 'ArrowLeft': 37, 'ArrowUp': 38, 'ArrowRight': 39,
        'ArrowDown': 40, 'Home': 36, 'End': 35, ' ': 32}


def find():
    return next((p for p in map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome')) if p), None)


class Failed(Exception):
    pass


class Browser:
    def __init__(self, width=1280, height=800, scale=1, dark=False, patience=120):
        self.patience = patience
        self.errors, self.requests, self.serial, self.buffer, self.loaded = [], [], 0, b'', None
        self.home = tempfile.mkdtemp(prefix='cprof-browser.')
        here_read, there_write = os.pipe()
        there_read, here_write = os.pipe()
        # The child needs its ends as descriptors 3 and 4; either may already have the other's number.
        script = f'exec 9<&{there_read} 8>&{there_write}; exec 3<&9 4>&8 9<&- 8>&-; exec "$@"'
        command = [find(), *FLAGS, f'--user-data-dir={self.home}', f'--window-size={width},{height}', 'about:blank']
        self.log = open(os.path.join(self.home, 'log'), 'wb')
        self.process = subprocess.Popen(['bash', '-c', script, 'sh', *command], stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, pass_fds=(there_read, there_write),
                                        start_new_session=True)
        os.close(there_read)
        os.close(there_write)
        self.input, self.output = here_read, here_write
        self.session = None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(f'{domain}.enable')
        self.call('Page.setLifecycleEventsEnabled', enabled=True)
        self.size(width, height, scale)
        self.media(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.session = None
            self.call('Browser.close')
            self.process.wait(10)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.input)
        os.close(self.output)
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)

    # ---- the protocol: JSON, each message ended by a NUL

    def call(self, method, **params):
        self.serial += 1
        message = {'id': self.serial, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        raw = json.dumps(message).encode() + b'\0'
        while raw:
            raw = raw[os.write(self.output, raw):]
        until = time.monotonic() + self.patience
        while True:
            answer = self.receive(until - time.monotonic())
            if answer is None:
                raise Failed(f'{method}: no answer in {self.patience} s')
            if answer.get('id') == self.serial:
                if 'error' in answer:
                    raise Failed(f"{method}: {answer['error'].get('message')}")
                return answer['result']

    def receive(self, seconds):
        until = time.monotonic() + max(0, seconds)
        while b'\0' not in self.buffer:
            left = until - time.monotonic()
            if left < 0 or not select.select([self.input], [], [], left)[0]:
                return None
            more = os.read(self.input, 1 << 20)
            if not more:
                raise Failed('the browser has gone: ' + open(self.log.name, errors='replace').read()[-500:])
            self.buffer += more
        raw, _, self.buffer = self.buffer.partition(b'\0')
        message = json.loads(raw)
        if 'method' in message:
            self.event(message['method'], message.get('params', {}))
        return message

    def event(self, name, params):
        if name == 'Page.lifecycleEvent' and params['name'] == 'load':
            self.loaded = params['loaderId']
        if name == 'Runtime.exceptionThrown':
            details = params['exceptionDetails']
            self.errors.append(details.get('exception', {}).get('description') or details['text'])
        elif name == 'Runtime.consoleAPICalled' and params['type'] in ('error', 'assert'):
            self.errors.append(' '.join(str(a.get('value', a.get('description'))) for a in params['args']))
        elif name == 'Log.entryAdded' and params['entry']['level'] == 'error':
            self.errors.append(params['entry']['text'])
        elif name == 'Network.requestWillBeSent':
            url = params['request']['url']
            if not url.startswith(('file:', 'data:', 'blob:', 'about:')):
                self.requests.append(url)

    # ---- user input

    def size(self, width, height, scale=1):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale,
                  mobile=False)

    def media(self, dark):
        scheme = {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}
        self.call('Emulation.setEmulatedMedia', features=[scheme])

    def open(self, path, fragment=''):
        """Opens a file (or a URL) and waits until it is loaded."""
        url = path if '://' in path else 'file://' + os.path.abspath(path)
        for each in ('about:blank', url + fragment): # or another fragment of the same file would not load
            document = self.call('Page.navigate', url=each)['loaderId']
            until = time.monotonic() + self.patience
            while self.loaded != document: # the event of an earlier document may come late
                if self.receive(until - time.monotonic()) is None:
                    raise Failed(f'{each} is not loaded in {self.patience} s')

    def value(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True,
                           userGesture=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise Failed(f"{expression[:200]}: {details.get('exception', {}).get('description') or details['text']}")
        return answer['result'].get('value')

    def wait(self, expression, seconds=None):
        until = time.monotonic() + (seconds or self.patience)
        while not self.value(f'!!({expression})'):
            if time.monotonic() > until:
                raise Failed(f'never true: {expression}')
            time.sleep(0.05)

    def settle(self):
        """Waits until the page has drawn everything requested."""
        self.value('new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))')

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def move(self, x, y):
        self.mouse('mouseMoved', x, y)
        self.settle()

    def click(self, x, y, count=1, modifiers=0):
        self.mouse('mouseMoved', x, y, modifiers=modifiers)
        for n in range(1, count + 1):
            for kind in ('mousePressed', 'mouseReleased'):
                self.mouse(kind, x, y, button='left', clickCount=n, modifiers=modifiers)
        self.settle()

    def drag(self, x, y, to_x, to_y):
        self.mouse('mouseMoved', x, y)
        self.mouse('mousePressed', x, y, button='left', clickCount=1)
        for i in (1, 2, 3):
            self.mouse('mouseMoved', x + (to_x - x) * i / 3, y + (to_y - y) * i / 3, button='left', buttons=1)
        self.mouse('mouseReleased', to_x, to_y, button='left', clickCount=1)
        self.settle()

    def key(self, key):
        more = {'key': key, 'windowsVirtualKeyCode': KEYS.get(key, ord(key[0].upper()))}
        if len(key) == 1:
            more['text'] = key
        elif key == 'Enter':
            more['text'] = '\r'
        self.call('Input.dispatchKeyEvent', type='keyDown', **more)
        self.call('Input.dispatchKeyEvent', type='keyUp', **{k: v for k, v in more.items() if k != 'text'})
        self.settle()

    def text(self, text):
        self.call('Input.insertText', text=text)
        self.settle()

    def files(self, selector, paths):
        """Sets the files of an <input type=file>."""
        found = self.call('Runtime.evaluate', expression=f'document.querySelector({json.dumps(selector)})')
        self.call('DOM.setFileInputFiles', files=[os.path.abspath(p) for p in paths],
                  objectId=found['result']['objectId'])

    def screenshot(self, path):
        self.settle()
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.call('Page.captureScreenshot', format='png')['data']))
