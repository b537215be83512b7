// Virtual threads that recurse, yield and wait for each other. Argument: milliseconds. Java 21 and newer.
import java.util.concurrent.SynchronousQueue;

class KnownVirtual {
	static volatile boolean stop;
	static volatile long sink;

	static int spin(int n) {
		int x = n;
		for (int i = 0; i < n * 4000; i++)
			x = x * 31 + (x >>> 7) + i % 7;
		return x;
	}

	// Yields at the bottom, so that its outer frames are in the heap when it goes on.
	static int descend(int depth) {
		if (depth == 0) {
			Thread.yield();
			return spin(20);
		}
		return descend(depth - 1)
			+ spin(1);
	}

	static void work() {
		while (!stop)
			sink += descend(30);
	}

	public static void main(String[] args) throws Exception {
		Thread[] threads = new Thread[6];
		for (int i = 0; i < threads.length; i++)
			threads[i] = Thread.ofVirtual().start(KnownVirtual::work);
		Thread.sleep(Integer.parseInt(args[0]));
		stop = true;
		for (Thread t : threads)
			t.join();
	}
}
