// The figures of a run: on the screen, and as JSON in bench/results.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../infra/services/project.ts'
import type { Costs } from './cpu.ts'

/** One measurement of the limit and, right after it, of ours; both in events a second. */
export type Turn = {
  readonly limit: number
  readonly subject: number
  readonly p99Ms: number | null
  /** What the subject cost each process that took part, and what the limit did. */
  readonly costs: Costs
  readonly limitCosts: Costs
}
export type Row = { readonly path: string; readonly turns: readonly Turn[]; readonly budget: number }
/** A figure that has a most; null where this system does not tell. */
export type Bound = {
  readonly name: string
  readonly value: number | null
  readonly unit: string
  readonly most: number
}
export type Measured = { readonly rows?: readonly Row[]; readonly bounds?: readonly Bound[] }

const TURNS = 3

const figure = (value: number): string => Math.round(value).toLocaleString('en')
const ratioOf = ({ limit, subject }: Turn): number => subject / limit

/**
 * Limit and subject by turns: a shared machine's speed drifts by more than the difference to be seen. A turn before them does
 * not count: in it the processes that were just started compile what they run.
 */
export async function measure(path: string, budget: number, turn: () => Promise<Turn>): Promise<Row> {
  const turns: Turn[] = []
  await turn()
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

/** Prints the figures beside their budgets and writes them down. */
export function report(measured: readonly Measured[]): void {
  const rows = measured.flatMap(each => each.rows ?? [])
  const bounds = measured.flatMap(each => each.bounds ?? [])
  printRatios(rows)
  printBounds(bounds)
  printCosts(rows)
  const folder = join(PROJECT_ROOT, 'bench', 'results')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${new Date().toISOString().replace(/[:.]/g, '-')}.json`)
  const machine = { cpus: cpus().length, model: cpus()[0]?.model ?? '', node: process.version }
  const ratios = rows.map(row => ({ ...row, ratio: ratioOf(middle(row)) }))
  writeFileSync(file, `${JSON.stringify({ machine, rows: ratios, bounds }, null, 2)}\n`)
  console.log(`written to ${file}`)
}

const NAME_WIDTH = 44

function printRatios(rows: readonly Row[]): void {
  if (rows.length === 0) return
  console.log(`\n${'events a second'.padEnd(NAME_WIDTH)}${'limit'.padStart(12)}${'ours'.padStart(12)}   ratio  budget`)
  for (const row of rows) {
    const turn = middle(row)
    const ratio = ratioOf(turn)
    console.log(
      `${row.path.padEnd(NAME_WIDTH)}${figure(turn.limit).padStart(12)}${figure(turn.subject).padStart(12)}` +
        `${ratio.toFixed(2).padStart(8)}${row.budget.toFixed(2).padStart(8)}${ratio >= row.budget ? '' : '  BELOW'}`,
    )
  }
}

function printBounds(bounds: readonly Bound[]): void {
  for (const { name, value, unit, most } of bounds) {
    const shown = value === null ? 'unknown' : `${figure(value)} ${unit}`
    const verdict = value === null || value < most ? '' : '  ABOVE'
    console.log(`${name.padEnd(NAME_WIDTH)}${shown.padStart(12)}  (budget under ${figure(most)} ${unit})${verdict}`)
  }
}

/** Processor time an event: the median of the turns, process by process. It hardly depends on what else the machine does. */
function printCosts(rows: readonly Row[]): void {
  for (const { path, turns } of rows) {
    const line = (costs: readonly Costs[]): string => {
      const names = [...new Set(costs.flatMap(Object.keys))]
      return names.map(name => `${name} ${medianOf(costs.map(cost => cost[name] ?? 0)).toFixed(2)}`).join(', ')
    }
    console.log(`\n${path}, µs of processor time an event`)
    console.log(`  ours:  ${line(turns.map(({ costs }) => costs))}`)
    console.log(`  limit: ${line(turns.map(({ limitCosts }) => limitCosts))}`)
  }
}

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
