// The order of the test files: the slowest first, so that none of them runs on alone when all others are done. Vitest orders by
// the times of an earlier run, which a clean clone does not have; there it would begin with the longest sources.
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Those with a process of their own of a quarter of a minute and more; the slowest, and those that mostly wait, first. */
const SLOW = [
  'bench/faults/api.fault.test.ts',
  'bench/sabotage/sabotage.it.test.ts',
  'bench/faults/files.fault.test.ts',
  'bench/faults/leases.fault.test.ts',
  'bench/faults/failpoints.fault.test.ts',
  'infra/reconcile/reconcile.it.test.ts',
  'bench/single-events/attribution.it.test.ts',
  'bench/faults/aggregator.fault.test.ts',
  'bench/faults/random-kills.fault.test.ts',
  'bench/faults/broker-cluster.fault.test.ts',
  'ingest/shared-limit.it.test.ts',
  'bench/files/download-failures.it.test.ts',
  'shared/access/live-keys.it.test.ts',
  'bench/single-events/amend-events.it.test.ts',
  'bench/single-events/closing-moment.it.test.ts',
  'bench/files/interrupted.it.test.ts',
  'bench/faults/outages.fault.test.ts',
  'ingest/broker.it.test.ts',
  'bench/usage-equals-raw.it.test.ts',
  'api/tenancy-layers.it.test.ts',
  'bench/single-events/delete-events.it.test.ts',
  'aggregator/faulty-clickhouse.it.test.ts',
]

export class SlowFirst extends BaseSequencer {
  /** The slow files by their list, and the others after them as vitest has them. Throws when a listed file is gone. */
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config
    for (const file of SLOW)
      if (!existsSync(join(root, file)))
        throw new Error(`${file} of shared/testing/slow-first.ts is not there; name what it is now`)
    const place = ({ moduleId }: TestSpecification): number => {
      const found = SLOW.indexOf(relative(root, moduleId))
      return found === -1 ? SLOW.length : found
    }
    return (await super.sort(specifications)).sort((one, other) => place(one) - place(other))
  }
}
