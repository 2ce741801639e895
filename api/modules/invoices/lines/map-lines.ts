import { mapPausing, type PausingWork } from '../../../../shared/pausing-work.ts'
import type { GroupView, InvoiceContent, LineView, PeriodView } from '../schema.ts'

type Changes = {
  readonly period?: (period: PeriodView) => PeriodView
  readonly group?: (group: GroupView) => GroupView
  readonly line: (line: LineView) => LineView
}

/** The periods of an invoice with their lines changed, and periods and groups themselves before that. */
export function* mapLines(
  periods: InvoiceContent['periods'],
  { period: ofPeriod = same, group: ofGroup = same, line }: Changes,
): PausingWork<InvoiceContent['periods']> {
  const all: InvoiceContent['periods'] = []
  for (const period of periods) {
    const groups: GroupView[] = []
    for (const group of period.groups) groups.push({ ...ofGroup(group), lines: yield* mapPausing(group.lines, line) })
    all.push({ ...ofPeriod(period), groups })
  }
  return all
}

const same = <T>(part: T): T => part
