// Index = raw: the first-seen index knows exactly the references that usage_events holds, each at its place. Both sides are
// walked in the order of the hash, a slice at a time.
import type { IndexSnapshot } from '../../aggregator/index/read-index.ts'
import type { Claim } from '../../aggregator/outcome.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import type { Findings } from './findings.ts'

export type IndexCounts = { claims: number; rows: number }

/** Rows of one statement; the hash is spread evenly, so slices are of like size. */
const ROWS_A_SLICE = 200_000
const PREFIXES = 2 ** 16

type Row = { readonly idHash: string; readonly seq: number; readonly line: number }
type Side = { readonly client: ClickHouseClient; readonly partition: number; readonly upTo: number }

/** Compares what stands up to position `upTo`: later claims and rows are of messages being worked on. */
export async function compareIndex(side: Side, index: IndexSnapshot, findings: Findings): Promise<IndexCounts> {
  const counts = { claims: 0, rows: 0 }
  const claims = walk(index, side.upTo)
  let claim = await claims.next()
  for await (const rows of slicesOf(side)) {
    counts.rows += rows.length
    for (const [place, row] of rows.entries()) {
      // Claims before this row are of references that no row has.
      for (; !claim.done && claim.value.idHash < row.idHash; claim = await claims.next()) {
        counts.claims += 1
        findings.add('NOT_IN_ROWS', `partition ${side.partition}: ${shown(claim.value)}`)
      }
      const known = claim.done ? null : claim.value
      const where = `partition ${side.partition}: ${shown(row)}`
      if (known?.idHash !== row.idHash) findings.add('NOT_IN_INDEX', where)
      else if (known.seq !== row.seq || known.line !== row.line)
        findings.add('OTHER_PLACE', `${where}; the index says message ${known.seq}, line ${known.line}`)
      // Two places of one reference stand next to each other; the claim goes with the last of them.
      if (known?.idHash === row.idHash && rows[place + 1]?.idHash !== row.idHash) {
        counts.claims += 1
        claim = await claims.next()
      }
    }
  }
  for (; !claim.done; claim = await claims.next()) {
    counts.claims += 1
    findings.add('NOT_IN_ROWS', `partition ${side.partition}: ${shown(claim.value)}`)
  }
  return counts
}

const shown = ({ idHash, seq, line }: Row): string => `event meda_${idHash} at message ${seq}, line ${line}`

async function* walk(index: IndexSnapshot, upTo: number): AsyncGenerator<Claim, null> {
  for await (const piece of index.claims()) for (const claim of piece) if (claim.seq <= upTo) yield claim
  return null
}

/** Every place of every reference, sorted by hash; versions of one row share their place. */
async function* slicesOf({ client, partition, upTo }: Side): AsyncGenerator<readonly Row[]> {
  const where = 'log_partition = {partition:UInt16} AND log_seq <= {upTo:UInt64}'
  const [[total = '0'] = []] = await selectRows<[string]>(client, `SELECT count() FROM usage_events WHERE ${where}`, {
    partition,
    upTo,
  })
  const slices = Math.min(PREFIXES, 2 ** Math.ceil(Math.log2(Math.max(1, Number(total) / ROWS_A_SLICE))))
  const prefix = (slice: number): string => ((slice * PREFIXES) / slices).toString(16).padStart(4, '0')
  for (let slice = 0; slice < slices; slice += 1) {
    const rows = await selectRows<[string, string, number]>(
      client,
      `SELECT DISTINCT toString(id_hash) AS hash, log_seq, log_line FROM usage_events
       WHERE ${where} AND substring(id_hash, 1, 4) BETWEEN {from:String} AND {to:String} ORDER BY hash, log_seq, log_line`,
      { partition, upTo, from: prefix(slice), to: lastBefore(prefix(slice + 1)) },
    )
    yield rows.map(([idHash, seq, line]) => ({ idHash, seq: Number(seq), line }))
  }
}

const lastBefore = (prefix: string): string => (Number.parseInt(prefix, 16) - 1).toString(16).padStart(4, '0')
