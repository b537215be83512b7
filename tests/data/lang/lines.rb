# Prints the line tables of this interpreter as the BPF program sends them, with its own answers: for each iseq
#	VERSION HEX POSITION:LINE...
# The tables are read from the interpreter's own memory.
require "fiddle"

MEMORY = File.open("/proc/self/mem", "rb")
VERSION = RUBY_VERSION.split(".").map(&:to_i)
BODY, SIZE, INDEX = (VERSION <=> [3, 2]) >= 0 ? [112, 128, 136] : [120, 136, 144]
ENTRY = (VERSION <=> [3, 1]) >= 0 ? 12 : 8

def memory(at, bytes)
  MEMORY.pread(bytes, at)
end

def word(at)
  memory(at, 8).unpack1("Q")
end

def iseq?(at)
  at > 4096 && at % 8 == 0 && (word(at) & 0xf01f) == 0x701a
end

# struct RTypedData has the iseq's address at 32; from 3.4 on, the address of its address
def address(iseq)
  data = word(Fiddle.dlwrap(iseq) + 32)
  iseq?(data) ? data : word(data)
end

# iseq.c: succ_index_table_create
def index_bytes(words)
  words < 54 ? (words + 8) / 9 * 8 : 48 + (words - 54 + 511) / 512 * 80
end

def table(body)
  words = memory(body + 4, 4).unpack1("L")
  n = memory(body + SIZE, 4).unpack1("L")
  index = n > 1 ? memory(word(body + INDEX), [index_bytes(words), 4096].min) : ""
  [n, words].pack("LL") + index + memory(word(body + BODY), n * ENTRY)[0, 16384 - 8 - 4096]
end

# The lines are numbers between the instructions.
def lines(iseq)
  position = 0
  line = nil
  iseq.to_a[13].map do |item|
    line = item if item.is_a?(Integer)
    next unless item.is_a?(Array)
    answer = "#{position}:#{line}"
    position += item.size
    answer
  end.compact
end

def print_iseq(iseq)
  body = word(address(iseq) + 16)
  puts [VERSION.inject { |a, b| a << 8 | b }, table(body).unpack1("H*"), *lines(iseq)].join(" ")
  iseq.each_child { |child| print_iseq(child) }
end

ARGV.each { |file| print_iseq(RubyVM::InstructionSequence.compile_file(file)) }
big = (0...250).map { |i| "a#{i} = [#{i},\n b]\n\n" * (i % 3) }.join
print_iseq(RubyVM::InstructionSequence.compile("b = 1\n" + big, "big"))
print_iseq(RubyVM::InstructionSequence.compile("1"))
