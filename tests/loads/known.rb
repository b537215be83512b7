# Spends the same CPU time in each of many kinds of Ruby calls, and prints for each its name and seconds.
# For 2.7 and later.
SHARE = (ARGV[0] || 0.3).to_f
SPENT = []

def now
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

def spin(till)
  while now < till
    i = 0
    i += 1 while i < 200
  end
end

def measured(name)
  began = now
  yield began + SHARE
  SPENT << [name, now - began]
end

module Mixed
  def mixed(till)
    spin(till)
  end

  module_function

  def of_module(till)
    spin(till)
  end
end

module Outer
  class Inner
    def deep(till)
      spin(till)
    end
  end
end

class Known
  include Mixed
  attr_accessor :till

  def method(till)
    spin(till)
  end

  def self.of_class(till)
    spin(till)
  end

  class << self
    def of_singleton(till)
      spin(till)
    end
  end

  def blocks(till)
    [1].each { [1].each { spin(till) } }
  end

  def recursion(depth, till)
    if depth > 0
      recursion(depth - 1, till)
    else
      spin(till)
    end
  end

  def größe(till)
    spin(till)
  end

  def 名前(till)
    spin(till)
  end

  define_method(:defined) { |till| spin(till) }

  def method_missing(name, till)
    spin(till)
  end

  def respond_to_missing?(*)
    true
  end

  def by_eval(till)
    eval("
      spin(till)")
  end

  def by_rescue(till)
    raise "thrown"
  rescue RuntimeError
    spin(till)
  end

  def by_ensure(till)
    [1].each { return 1 }
  ensure
    spin(till)
  end

  def by_sort(till)
    [1].sort_by { spin(till) }
  end

  def <=>(other)
    spin(till)
    0
  end

  def by_match(till)
    "abc" =~ /b/
    spin(till)
    $~[0]
  end

  def by_fiber(till)
    Fiber.new { spin(till) }.resume
  end

  def by_thread(_)
    Thread.new { measured("block in Known#by_thread") { |till| spin(till) } }.join
  end
end

known = Known.new
plain = Object.new
def plain.of_object(till)
  spin(till)
end
unnamed = Class.new { def of_unnamed(till) spin(till) end }.new
Object.class_eval("def from_text(till)\n  spin(till)\nend\n", "<made>", 1)

measured("Known#method") { |till| known.method(till) }
measured("Mixed#mixed") { |till| known.mixed(till) }
measured("Mixed.of_module") { |till| Mixed.of_module(till) }
measured("Outer::Inner#deep") { |till| Outer::Inner.new.deep(till) }
measured("Known.of_class") { |till| Known.of_class(till) }
measured("Known.of_singleton") { |till| Known.of_singleton(till) }
measured("block (2 levels) in Known#blocks") { |till| known.blocks(till) }
measured("Known#recursion") { |till| known.recursion(20, till) }
measured("Known#größe") { |till| known.größe(till) }
measured("Known#名前") { |till| known.名前(till) }
measured("block in <class:Known>") { |till| known.defined(till) }
measured("Known#method_missing") { |till| known.unknown(till) }
measured("Known#by_eval") { |till| known.by_eval(till) }
measured("rescue in Known#by_rescue") { |till| known.by_rescue(till) }
measured("ensure in Known#by_ensure") { |till| known.by_ensure(till) }
measured("block in Known#by_sort") { |till| known.by_sort(till) }
measured("Known#<=>") { |till| known.till = till; [known, known].max }
measured("Known#by_match") { |till| known.by_match(till) }
measured("block in Known#by_fiber") { |till| known.by_fiber(till) }
measured("of_object") { |till| plain.of_object(till) }
measured("of_unnamed") { |till| unnamed.of_unnamed(till) }
measured("Object#from_text") { |till| from_text(till) }
known.by_thread(0)
SPENT.each { |name, seconds| puts format("%s %.3f", name, seconds) }
