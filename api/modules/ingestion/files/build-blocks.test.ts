import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BLOCK_BYTES_MAX, BLOCK_LINES_MAX, type NewBlock } from './blocks.ts'
import { BlockBuilder } from './build-blocks.ts'

function build(sizes: readonly number[], from: BlockBuilder, at: number): NewBlock[] {
  const blocks: NewBlock[] = []
  let start = at
  for (const size of sizes) {
    const block = from.add({ start, end: start + size })
    if (block) blocks.push(block)
    start += size
  }
  const rest = from.close()
  return rest ? [...blocks, rest] : blocks
}

const sizes = fc.array(fc.integer({ min: 1, max: 65_536 }), { maxLength: 200 })

test('blocks cover every line once, in order, within their bounds', () => {
  fc.assert(
    fc.property(sizes, lines => {
      const builder = new BlockBuilder(null)
      const blocks = build(lines, builder, 10)
      expect(builder.lines).toBe(lines.length)
      let line = 1
      let byte = 10
      for (const [number, block] of blocks.entries()) {
        expect(block).toMatchObject({ number, first_line: line, byte_start: byte })
        expect(block.lines).toBeLessThanOrEqual(BLOCK_LINES_MAX)
        expect(block.byte_end - block.byte_start).toBeLessThan(BLOCK_BYTES_MAX + 65_536)
        line += block.lines
        byte = block.byte_end
      }
      expect(line - 1).toBe(lines.length)
    }),
  )
})

test('building goes on after any block as if it had never stopped', () => {
  fc.assert(
    fc.property(sizes, fc.nat(), (lines, pick) => {
      const whole = build(lines, new BlockBuilder(null), 0)
      const last = whole[pick % (whole.length || 1)]
      if (!last) return
      const rest = lines.slice(last.first_line + last.lines - 1)
      expect(build(rest, new BlockBuilder(last), last.byte_end)).toEqual(whole.slice(last.number + 1))
    }),
  )
})
