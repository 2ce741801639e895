import { expect, test } from 'vitest'
import { createFindings } from './findings.ts'
import { reportLines } from './report.ts'

const counts = { records: 10, kept: 6, duplicates: 2, refused: 1, control: 1 }
const partition = { partition: 0, from: 1, to: 4, counts, indexes: [{ claims: 6, rows: 6, directory: 'd', upTo: 4 }] }
const wallets = { entries: 12, grants: 3, sum: '0' }
const rollups = { series: 3, queries: 9, unsettled: 0 }

test('a report says that everything adds up, or what does not and where', () => {
  const findings = createFindings()
  const fine = reportLines({ partitions: [partition, { ...partition, indexes: [] }], rollups, wallets, findings })
  expect(fine).toEqual([
    'partition 0, messages 1 to 4: 10 records = 6 kept + 2 duplicates + 1 refused + 1 control',
    '  index = raw: 6 references, 6 rows, up to message 4 (d)',
    'partition 0, messages 1 to 4: 10 records = 6 kept + 2 duplicates + 1 refused + 1 control',
    '  no index of this partition is on this machine: it was not compared',
    'roll-ups against raw rows: 3 series, 9 figures',
    'wallets: 12 entries of 3 grants, all accounts sum to 0',
    'No differences.',
  ])
  for (let place = 0; place < 30; place += 1) findings.add('NOT_STORED', `place ${place}`)
  const wrong = reportLines({
    partitions: [{ ...partition, counts: { ...counts, kept: 5 } }],
    rollups,
    wallets,
    findings,
  })
  expect(wrong[0]).toContain('10 records IS NOT 5 kept')
  expect(wrong).toContain('    place 19')
  expect(wrong).not.toContain('    place 20')
  expect(wrong.slice(-2)).toEqual(['    and 10 more', '30 differences.'])
})
