// A fixed piece of work, which no change of the product changes: the text of a document of the size of an invoice's is read, changed,
// written and hashed. It runs a little each second, beside what is measured, and tells what one piece takes of processor time. What
// is measured then costs so many pieces, on whatever machine and beside whatever else.
import { hash } from 'node:crypto'

const PIECES_AT_ONCE = 20
const WARM_UP = 200
const INTERVAL_MS = 1_000
const LINES = 10
const MEMBERS = 24

type Line = { readonly id: string; readonly amount: string; readonly details: Record<string, string> }

const line = (_: unknown, place: number): Line => ({
  id: `line-${place}`,
  amount: `${place * 7919}.25`,
  details: Object.fromEntries(
    Array.from({ length: MEMBERS }, (_one, member) => [`member_${member}`, `${'value '.repeat(8)}${place} ${member}`]),
  ),
})
let text = JSON.stringify({ total: '0', lines: Array.from({ length: LINES }, line) })

/** One piece: 20 KB of JSON, five times. */
function piece(): void {
  for (let turn = 0; turn < 5; turn += 1) {
    const { lines } = JSON.parse(text) as { lines: Line[] }
    const changed = lines.map(({ details, ...of }) => ({
      ...of,
      details: Object.fromEntries(Object.entries(details).filter(([name]) => name !== 'none')),
    }))
    const total = lines.reduce((sum, { amount }) => sum + BigInt(amount.replace('.', '')), 0n)
    const next = JSON.stringify({ total: total.toString(), lines: changed })
    if (hash('sha256', next).length !== 64) throw new Error('a hash has 64 digits')
    text = next
  }
}

for (let warm = 0; warm < WARM_UP; warm += 1) piece()
let pieces = 0
let micros = 0
const timer = setInterval(() => {
  const before = process.cpuUsage()
  for (let done = 0; done < PIECES_AT_ONCE; done += 1) piece()
  const { user, system } = process.cpuUsage(before)
  pieces += PIECES_AT_ONCE
  micros += user + system
}, INTERVAL_MS)
process.send?.('ready')
process.once('message', () => {
  clearInterval(timer)
  process.send?.(pieces === 0 ? null : micros / pieces / 1000, () => process.disconnect())
})
