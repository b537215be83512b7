// Templates, lambdas and the standard library: chains of a dozen calls that the compiler inlined.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace deep {

template <int N> struct Nest {
	static inline __attribute__((always_inline)) unsigned int of(unsigned int x)
	{
		return Nest<N - 1>::of(x * 3 + N) ^ (x >> N);
	}
};

template <> struct Nest<0> {
	static inline __attribute__((always_inline)) unsigned int of(unsigned int x) { return x + 1; }
};

class Shape {
public:
	virtual ~Shape() = default;
	virtual double area() const = 0;
};

class Square : public Shape {
	double side;
public:
	explicit Square(double s) : side(s) {}
	double area() const override { return side * side; }
};

class Ring : public Shape {
	double inner, outer;
public:
	Ring(double i, double o) : inner(i), outer(o) {}
	double area() const override { return disc(outer) - disc(inner); }
	static double disc(double r) { return 3.14159 * r * r; }
};

struct Word {
	std::string text;
	unsigned int count = 0;
	bool operator<(const Word &o) const { return count != o.count ? count < o.count : text < o.text; }
};

std::vector<Word> count(const std::vector<std::string> &words)
{
	std::map<std::string, unsigned int> seen;
	std::vector<Word> out;

	for (const auto &w : words)
		seen[w] += Nest<6>::of(static_cast<unsigned int>(w.size()));
	std::transform(seen.begin(), seen.end(), std::back_inserter(out), [](const auto &p) {
		Word w;
		w.text = p.first + "/" + std::to_string(p.second);
		w.count = p.second;
		return w;
	});
	std::sort(out.begin(), out.end());
	std::stable_sort(out.begin(), out.end(), [](const Word &a, const Word &b) { return a.text < b.text; });
	return out;
}

template <typename F> unsigned int twice(F f, unsigned int x) { return f(f(x)); }

}

int main(int argc, char **argv)
{
	std::vector<std::string> words(argv, argv + argc);
	std::vector<std::unique_ptr<deep::Shape>> shapes;
	std::function<unsigned int(unsigned int)> f = [argc](unsigned int x) { return deep::Nest<9>::of(x + argc); };
	struct Local {
		static unsigned int less(unsigned int x) { return x ? x - 1 : deep::Nest<3>::of(x); }
	};

	for (int i = 0; i < 100; i++)
		words.push_back(words[static_cast<size_t>(i) % words.size()] + std::to_string(i % 7));
	for (int i = 0; i < argc; i++) {
		if (i & 1)
			shapes.push_back(std::make_unique<deep::Square>(i));
		else
			shapes.push_back(std::make_unique<deep::Ring>(i, i + 1));
	}
	double area = std::accumulate(shapes.begin(), shapes.end(), 0.0,
				      [](double sum, const auto &s) { return sum + s->area(); });
	unsigned int total = deep::twice(f, 3) + deep::twice(Local::less, 5);
	try {
		for (const auto &w : deep::count(words))
			total += w.count + static_cast<unsigned int>(w.text.at(1));
	} catch (const std::exception &e) {
		std::fprintf(stderr, "deep: %s\n", e.what());
		return 1;
	}
	std::printf("%u %f\n", total, area);
	return 0;
}
