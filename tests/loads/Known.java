// Java of known shapes, a thread for each. Arguments: milliseconds, and names of the threads to run; none: all.
// Prints, for the thread of known shares, how many rounds each method has worked.
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.zip.Deflater;

class Known {
	static volatile boolean stop;
	static volatile long sink;
	static long[] rounds = new long[3];

	static int spin(int n) {
		int x = n;
		for (int i = 0; i < n * 4000; i++)
			x = x * 31 + (x >>> 7) + i % 7;
		return x;
	}

	// The same loop in each, so that a round of each has the same cost.
	static int fifty() { int x = 1; for (int i = 0; i < 20000; i++) x = x * 31 + (x >>> 7) + i % 7; return x; }
	static int thirty() { int x = 1; for (int i = 0; i < 20000; i++) x = x * 31 + (x >>> 7) + i % 7; return x; }
	static int twenty() { int x = 1; for (int i = 0; i < 20000; i++) x = x * 31 + (x >>> 7) + i % 7; return x; }

	static void shares() {
		for (int k = 0; k < 10; k++) {
			if (k < 5) {
				sink += fifty();
				rounds[0]++;
			} else if (k < 8) {
				sink += thirty();
				rounds[1]++;
			} else {
				sink += twenty();
				rounds[2]++;
			}
		}
	}

	static int bottom() { return spin(1); }

	static int descend(int depth) {
		if (depth == 0)
			return bottom();
		return descend(depth - 1)
			+ 1;
	}

	static void recursion() { sink += descend(60); }

	static void streams() {
		sink += IntStream.range(0, 200)
			.map(i -> spin(1) + i)
			.filter(i -> i % 3 != 0)
			.sum();
	}

	static int lambda(IntUnaryOperator f, int n) { return f.applyAsInt(n); }

	static void lambdas() {
		int add = (int) sink & 7;
		sink += lambda(x -> spin(x) + add, 1);
		sink += lambda(Known::spin, 1);
	}

	static void thrower(int depth) {
		if (depth == 0)
			throw new IllegalStateException("thrown " + spin(1));
		thrower(depth - 1);
	}

	static void exceptions() {
		try {
			thrower(10);
		} catch (IllegalStateException e) {
			sink += e.getMessage().length();
		}
	}

	interface Shape { int area(int n); }
	static class Square implements Shape { public int area(int n) { return spin(1) + n; } }
	static class Circle implements Shape { public int area(int n) { return spin(1) * n; } }
	static class Line implements Shape { public int area(int n) { return spin(1) - n; } }
	static class Point implements Shape { public int area(int n) { return spin(1) ^ n; } }
	static final Shape[] shapes = { new Square(), new Circle(), new Line(), new Point() };

	static int area(Shape s, int n) { return s.area(n); }

	static void interfaces() {
		for (int i = 0; i < 40; i++)
			sink += area(shapes[i & 3], i);
	}

	static void garbage() {
		Map<String, int[]> map = new HashMap<>();
		for (int i = 0; i < 300; i++)
			map.put("key" + i, new int[i]);
		sink += map.size();
	}

	static void copies() {
		byte[] a = new byte[65536];
		byte[] b = new byte[65536];
		for (int i = 0; i < 20; i++) {
			Arrays.fill(a, (byte) i);
			System.arraycopy(a, 3, b, 1, 60000);
		}
		sink += b[7];
	}

	public static int target(int n) { return spin(n); }

	static Method method;

	// By the JVM's own calls if so asked (sun.reflect.inflationThreshold, jdk.reflect.useNativeAccessorOnly).
	static void reflection() {
		try {
			sink += (int) method.invoke(null, 1);
		} catch (ReflectiveOperationException e) {
			throw new RuntimeException(e);
		}
	}

	static final Object lock = new Object();

	static void locks() {
		synchronized (lock) {
			sink += spin(1);
		}
	}

	static class Base { int step(int n) { return n + 1; } }
	static Base base = new Base();

	// A call that the compiler has put into its caller, until another class is loaded.
	static int steps(int n) {
		int x = n;
		for (int i = 0; i < 2000; i++)
			x = base.step(x) + spin(0);
		return x;
	}

	static void deoptimized() throws Exception {
		for (int i = 0; i < 30; i++)
			sink += steps(i);
		base = new Base();
		Object o = (sink & 1023) == 7 ? null : base;
		sink += o == null ? 1 : o.hashCode() & 1;
		int[] small = new int[4];
		try {
			sink += small[(int) (sink & 7)];
		} catch (ArrayIndexOutOfBoundsException e) {
			sink++;
		}
	}

	static final Pattern pattern = Pattern.compile("(a|b|ab)*c+d?");

	static void regex() { sink += pattern.matcher("abababababababccccx").matches() ? 1 : 0; }

	static void sorting() {
		Integer[] numbers = new Integer[2000];
		for (int i = 0; i < numbers.length; i++)
			numbers[i] = i * 7919 % 2003;
		Arrays.sort(numbers, (p, q) -> q - p);
		sink += numbers[0];
	}

	static void deflate() {
		Deflater d = new Deflater(9);
		byte[] in = new byte[20000];
		byte[] out = new byte[20000];
		for (int i = 0; i < in.length; i++)
			in[i] = (byte) (i * i >> 5);
		d.setInput(in);
		d.finish();
		sink += d.deflate(out);
		d.end();
	}

	interface Load { void run() throws Exception; }

	static void repeat(Load load) {
		try {
			while (!stop)
				load.run();
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		Map<String, Load> loads = new LinkedHashMap<>();
		method = Known.class.getDeclaredMethod("target", int.class);
		loads.put("shares", Known::shares);
		loads.put("recursion", Known::recursion);
		loads.put("streams", Known::streams);
		loads.put("lambdas", Known::lambdas);
		loads.put("exceptions", Known::exceptions);
		loads.put("interfaces", Known::interfaces);
		loads.put("garbage", Known::garbage);
		loads.put("copies", Known::copies);
		loads.put("reflection", Known::reflection);
		loads.put("locks", Known::locks);
		loads.put("deoptimized", Known::deoptimized);
		loads.put("regex", Known::regex);
		loads.put("sorting", Known::sorting);
		loads.put("deflate", Known::deflate);
		if (args.length > 1)
			loads.keySet().retainAll(Arrays.asList(args).subList(1, args.length));
		Thread[] threads = new Thread[loads.size()];
		int n = 0;
		for (Map.Entry<String, Load> e : loads.entrySet()) {
			threads[n] = new Thread(() -> repeat(e.getValue()), e.getKey());
			threads[n++].start();
		}
		Thread.sleep(Integer.parseInt(args[0]));
		stop = true;
		for (Thread t : threads)
			t.join();
		System.out.println("fifty " + rounds[0] + "\nthirty " + rounds[1] + "\ntwenty " + rounds[2]);
	}
}
