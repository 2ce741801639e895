// The figures of a run: on the screen, and as JSON in bench/results.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../infra/services/project.ts'

/** One measurement of the limit and, right after it, of ours; both in events a second. */
export type Turn = { readonly limit: number; readonly subject: number; readonly p99Ms: number | null }
export type Row = { readonly path: string; readonly turns: readonly Turn[]; readonly budget: number }

const TURNS = 3

export const figure = (value: number): string => Math.round(value).toLocaleString('en')
const ratioOf = ({ limit, subject }: Turn): number => subject / limit

/** Limit and subject by turns: a shared machine's speed drifts by more than the difference to be seen. */
export async function measure(path: string, budget: number, turn: () => Promise<Turn>): Promise<Row> {
  const turns: Turn[] = []
  for (let each = 0; each < TURNS; each += 1) {
    const taken = await turn()
    turns.push(taken)
    const p99 = taken.p99Ms === null ? '' : `, p99 ${taken.p99Ms.toFixed(1)} ms`
    console.log(`  ${path}: limit ${figure(taken.limit)}, ours ${figure(taken.subject)} events/s${p99}`)
  }
  return { path, turns, budget }
}

/** The turn whose ratio is the median. */
function middle({ turns, path }: Row): Turn {
  const turn = turns.toSorted((a, b) => ratioOf(a) - ratioOf(b))[Math.floor(turns.length / 2)]
  if (!turn) throw new Error(`${path} was not measured`)
  return turn
}

/** Most memory the process ever held, in MiB; null where the system does not tell. */
export function peakMemoryMiB(pid: number): number | null {
  try {
    const peak = /VmHWM:\s+([0-9]+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    return peak ? Math.round(Number(peak[1]) / 1024) : null
  } catch {
    return null // no /proc on this system
  }
}

export function report(rows: readonly Row[], gatewayMiB: number | null): void {
  console.log(`\n${'events a second'.padEnd(34)}${'limit'.padStart(12)}${'ours'.padStart(12)}   ratio  budget`)
  for (const row of rows) {
    const turn = middle(row)
    const ratio = ratioOf(turn)
    console.log(
      `${row.path.padEnd(34)}${figure(turn.limit).padStart(12)}${figure(turn.subject).padStart(12)}` +
        `${ratio.toFixed(2).padStart(8)}${row.budget.toFixed(2).padStart(8)}${ratio >= row.budget ? '' : '  BELOW'}`,
    )
  }
  console.log(`gateway memory, peak: ${gatewayMiB ?? 'unknown'} MiB (budget 512)`)
  const folder = join(PROJECT_ROOT, 'bench', 'results')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${new Date().toISOString().replace(/[:.]/g, '-')}.json`)
  const machine = { cpus: cpus().length, model: cpus()[0]?.model ?? '', node: process.version }
  const measured = rows.map(row => ({ ...row, ratio: ratioOf(middle(row)) }))
  writeFileSync(file, `${JSON.stringify({ machine, rows: measured, gatewayMiB }, null, 2)}\n`)
  console.log(`written to ${file}`)
}
