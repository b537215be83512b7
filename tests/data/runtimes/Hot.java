import java.nio.file.*;

public class Hot {
	static int leaf(int n) { int s = 1; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
	static int middle(int n) { return leaf(n) + leaf(n + 1); }
	public static void main(String[] a) throws Exception {
		long t = System.nanoTime() + 2500000000L;
		int x = 0;
		Files.writeString(Path.of("pid"), "" + ProcessHandle.current().pid());
		while (System.nanoTime() < t) x += middle(1000000);
		if (x == 1) System.out.println();
	}
}
