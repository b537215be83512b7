// Exceptions through many frames, with destructors on the way; threads; std::function, lambdas and sorting.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

volatile uint64_t sink;
using Clock = std::chrono::steady_clock;

struct Guard {
	uint64_t &to;
	std::string text;

	explicit Guard(uint64_t &t) : to(t), text("a string that is too long to be kept in place") {}
	~Guard() { to += text.size(); }
};

__attribute__((noinline)) uint64_t throws(int depth, uint64_t a)
{
	uint64_t here = a;
	Guard guard(here);

	if (depth == 0) {
		if (a & 1)
			throw std::runtime_error("odd");
		throw a;
	}
	return throws(depth - 1, a + 1) + here;
}

__attribute__((noinline)) uint64_t catches(uint64_t a)
{
	try {
		return throws(12, a);
	} catch (const std::exception &e) {
		return std::string(e.what()).size();
	} catch (uint64_t v) {
		try {
			throws(3, v + 1);
		} catch (...) {
			return v;
		}
	}
	return 0;
}

__attribute__((noinline)) uint64_t functions(uint64_t a)
{
	std::function<uint64_t(uint64_t)> f = [](uint64_t x) { return x * 31 + 7; };

	for (int i = 0; i < 10; i++)
		f = [f, i](uint64_t x) { return f(x ^ static_cast<uint64_t>(i)) + 1; };
	return f(a);
}

__attribute__((noinline)) uint64_t containers(uint64_t a)
{
	std::map<std::string, std::unique_ptr<uint64_t>> m;
	std::vector<std::string> v;

	for (uint64_t i = 0; i < 64; i++) {
		v.push_back(std::to_string(a * i));
		m[v.back()] = std::make_unique<uint64_t>(i);
	}
	std::sort(v.begin(), v.end(), [](const std::string &x, const std::string &y) { return y < x; });
	return *m[v[3]];
}

void run(Clock::time_point until)
{
	for (uint64_t a = 0; Clock::now() < until; a++) {
		uint64_t got = 0;

		for (uint64_t i = 0; i < 20; i++)
			got += functions(a + i);
		sink = sink + got + catches(a) + containers(a);
	}
}

} // namespace

int main(int argc, char **argv)
{
	auto until = Clock::now() + std::chrono::milliseconds(static_cast<int>(1000 * (argc > 1 ? atof(argv[1]) : 1)));
	std::thread one(run, until), two([until] { run(until); });

	run(until);
	one.join();
	two.join();
	return 0;
}
