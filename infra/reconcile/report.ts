// A reconciliation as a person reads it.
import { DIFFERENCES, type Difference } from './findings.ts'
import type { PartitionResult, Reconciliation } from './reconcile.ts'

const figure = (value: number): string => value.toLocaleString('en')

function partitionLines({ partition, from, to, counts, indexes }: PartitionResult): string[] {
  const { records, kept, duplicates, refused, control } = counts
  const sum = kept + duplicates + refused + control
  const lines = [
    `partition ${partition}, messages ${figure(from)} to ${figure(to)}: ${figure(records)} records ${records === sum ? '=' : 'IS NOT'} ` +
      `${figure(kept)} kept + ${figure(duplicates)} duplicates + ${figure(refused)} refused + ${figure(control)} control`,
  ]
  for (const { claims, rows, directory, upTo } of indexes)
    lines.push(
      `  index ${claims === rows ? '=' : 'IS NOT'} raw: ${figure(claims)} references, ${figure(rows)} rows, up to message ${figure(upTo)} (${directory})`,
    )
  if (indexes.length === 0) lines.push('  no index of this partition is on this machine: it was not compared')
  return lines
}

/** Lines to print; the last says whether anything differs. */
export function reportLines({ partitions, rollups, wallets, findings }: Reconciliation): string[] {
  const lines = partitions.flatMap(partitionLines)
  const unsettled = rollups.unsettled === 0 ? '' : `, ${figure(rollups.unsettled)} moved too fast to compare`
  lines.push(
    `roll-ups against raw rows: ${figure(rollups.series)} series, ${figure(rollups.queries)} figures${unsettled}`,
  )
  lines.push(
    `wallets: ${figure(wallets.entries)} entries of ${figure(wallets.grants)} grants, all accounts sum to ${wallets.sum}`,
  )
  for (const [difference, count] of findings.counts)
    lines.push(...differenceLines(difference, count, findings.examples(difference)))
  const total = findings.total()
  lines.push(total === 0 ? 'No differences.' : `${figure(total)} differences.`)
  return lines
}

function differenceLines(difference: Difference, count: number, examples: readonly string[]): string[] {
  const more = count > examples.length ? [`    and ${figure(count - examples.length)} more`] : []
  return [
    `${difference} (${figure(count)}): ${DIFFERENCES[difference]}`,
    ...examples.map(example => `    ${example}`),
    ...more,
  ]
}
