/** Waits until it is killed, for a minute at most. */
public class Wait {
	public static void main(String[] args) throws Exception {
		Thread.sleep(60000);
	}
}
