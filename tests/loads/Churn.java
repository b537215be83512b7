// Classes that come and go: each has a number in its name and in those of its methods, calls one of its methods
// from another, and is forgotten after some rounds. So all numbers in a stack are the same. Argument: how many
// classes.
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.util.ArrayDeque;
import java.util.function.IntUnaryOperator;

class Churn {
	static volatile long sink;

	static class Owner extends ClassLoader {
		Class<?> define(byte[] code) { return defineClass(null, code, 0, code.length); }
	}

	// Replaces the number 0000000 in the class file, which keeps its length.
	static byte[] numbered(byte[] from, int number) {
		byte[] to = from.clone(), digits = String.format("%07d", number).getBytes();
		for (int i = 0; i + 7 <= to.length; i++) {
			boolean is = true;
			for (int k = 0; k < 7 && is; k++)
				is = from[i + k] == '0';
			if (is)
				System.arraycopy(digits, 0, to, i, 7);
		}
		return to;
	}

	// Has one class of argument, then two, then many: compiled code that relies on it is thrown away.
	static int call(IntUnaryOperator made, int n) { return made.applyAsInt(n) + 1; }

	public static void main(String[] args) throws Exception {
		int last = Integer.parseInt(args[0]);
		byte[] code = new byte[1 << 16];
		int n = 0, number = 0;
		try (InputStream in = Churn.class.getResourceAsStream("Made0000000.class")) {
			for (int got; (got = in.read(code, n, code.length - n)) > 0; )
				n += got;
		}
		code = java.util.Arrays.copyOf(code, n);
		ArrayDeque<IntUnaryOperator> kept = new ArrayDeque<>();
		while (number < last) {
			Constructor<?> make = new Owner().define(numbered(code, ++number)).getDeclaredConstructor();
			make.setAccessible(true);
			kept.add((IntUnaryOperator) make.newInstance());
			if (kept.size() > 20)
				kept.remove();
			for (int i = 0; i < 150; i++)
				for (IntUnaryOperator each : kept)
					sink += call(each, i & 7);
			byte[][] garbage = new byte[64][];
			for (int i = 0; i < 640; i++)
				garbage[i & 63] = new byte[4096];
			sink += garbage[number & 63].length;
			if (number % 50 == 0)
				System.gc();
		}
	}
}

class Made0000000 implements IntUnaryOperator {
	private Object kind = "";

	// The type of `kind` changes, which the compiler does not expect.
	public int applyAsInt(int n) {
		int x = outer0000000(n);
		if (n == 7 && (x & 63) == 5)
			kind = kind instanceof String ? (Object) 1 : "";
		return x + kind.hashCode();
	}

	static int outer0000000(int n) {
		int x = n;
		for (int i = 0; i < 4; i++)
			x += inner0000000(x) ^ i;
		return x;
	}

	static int inner0000000(int n) {
		int x = n;
		for (int i = 0; i < 60; i++)
			x = x * 31 + (x >>> 7) + i % 7;
		return x;
	}
}
