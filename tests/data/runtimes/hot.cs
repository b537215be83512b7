using System;
using System.Runtime.CompilerServices;
static class P {
	[MethodImpl(MethodImplOptions.NoInlining)]
	static int leaf(int n) { int s = 1; for (int i = 0; i < n; i++) s = s * 31 + i; return s; }
	[MethodImpl(MethodImplOptions.NoInlining)]
	static int middle(int n) { return leaf(n) + leaf(n + 1); }
	static void Main() {
		var t = DateTime.Now.AddSeconds(2); int x = 0;
		System.IO.File.WriteAllText("pid", System.Diagnostics.Process.GetCurrentProcess().Id.ToString());
		while (DateTime.Now < t) x += middle(100000);
	}
}
