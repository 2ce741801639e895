import { expect, test, vi } from 'vitest'
import { batchLines, createLogLines } from './log-lines.ts'

const errorOf = (code: string) => Object.assign(new Error(code), { code })

/** A file that takes `room` bytes, then fails with `code`; more room can be made. */
function fileWith(room: number, code = 'ENOSPC') {
  let text = ''
  let left = room
  let tries = 0
  return {
    text: () => text,
    tries: () => tries,
    makeRoom: (bytes: number) => {
      left = bytes
    },
    write: (bytes: Uint8Array): number => {
      tries += 1
      if (left === 0) throw errorOf(code)
      const taken = Math.min(left, bytes.length)
      left -= taken
      text += Buffer.from(bytes.subarray(0, taken)).toString()
      return taken
    },
  }
}

test('lines that find no room are dropped and counted, and the first one after that stands on a line of its own', () => {
  const file = fileWith(10)
  const lines = createLogLines(file.write)
  for (const line of ['first\n', 'second\n', 'third\n', 'fourth\n']) lines.write(line)
  expect(file.text()).toBe('first\nseco')
  expect(lines.dropped()).toBe(3)
  file.makeRoom(1_000)
  lines.write('fifth\n')
  expect(file.text()).toBe('first\nseco\nfifth\n')
  expect(lines.dropped()).toBe(3)
})

test('a reader that does not read is waited for a moment once, not with every line', () => {
  const pipe = fileWith(6, 'EAGAIN')
  const lines = createLogLines(pipe.write)
  for (let line = 0; line < 1_000; line += 1) lines.write('first\n')
  expect(lines.dropped()).toBe(999)
  expect(pipe.tries()).toBeLessThan(1_020)
  pipe.makeRoom(100)
  lines.write('again\n')
  expect(pipe.text()).toBe('first\nagain\n')
})

test('a line in several pieces comes whole', () => {
  let text = ''
  const lines = createLogLines(bytes => {
    text += Buffer.from(bytes.subarray(0, 3)).toString()
    return Math.min(3, bytes.length)
  })
  lines.write('a line of text\n')
  expect([text, lines.dropped()]).toEqual(['a line of text\n', 0])
})

test('of several lines in one piece those that are not whole are dropped, each counted', () => {
  const file = fileWith(14)
  const lines = createLogLines(file.write)
  lines.write('first\nsecond\nthird\nfourth\n')
  expect([file.text(), lines.dropped()]).toEqual(['first\nsecond\nt', 2])
  file.makeRoom(0)
  lines.write('fifth\n')
  file.makeRoom(1_000)
  lines.write('sixth\nseventh\n')
  expect([file.text(), lines.dropped()]).toEqual(['first\nsecond\nt\nsixth\nseventh\n', 3])
})

test('lines that come together are written together, in order, and a burst does not wait for its end', () => {
  vi.useFakeTimers()
  try {
    const pieces: string[] = []
    const output = batchLines({ write: text => void pieces.push(text) })
    output.write('one\n')
    output.write('two\n')
    expect(pieces).toEqual([])
    vi.runAllTimers()
    output.write('three\n')
    vi.runAllTimers()
    expect(pieces).toEqual(['one\ntwo\n', 'three\n'])
    for (let line = 0; line < 10_000; line += 1) output.write('a line of a burst\n')
    expect(pieces.length).toBeGreaterThan(3)
    vi.runAllTimers()
    expect(pieces.join('').length).toBe('one\ntwo\nthree\n'.length + 10_000 * 'a line of a burst\n'.length)
  } finally {
    vi.useRealTimers()
  }
})

test('what is kept when the process exits is written then', () => {
  const pieces: string[] = []
  const before = process.listeners('exit')
  const output = batchLines({ write: text => void pieces.push(text) })
  const [onExit] = process.listeners('exit').filter(listener => !before.includes(listener))
  output.write('the last line\n')
  onExit?.(0)
  expect(pieces).toEqual(['the last line\n'])
})
