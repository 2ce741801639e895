// The order of the test files: those that have a process of their own first, since much of what they take is waiting, which short
// files then fill; and among them the slowest first, so that none runs on alone when all others are done. Vitest records how long each
// file takes (.tools/vitest, which a clean clone lacks); a file without a record counts as slow if it kills processes or tests the
// whole system.
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const WHOLE_SYSTEM = join('bench', 'system-tests')
const isSlow = (file: string): boolean => file.startsWith(WHOLE_SYSTEM) || file.endsWith('.fault.test.ts')

export class RunOrder extends BaseSequencer {
  /** Alone before together, then by recorded durations, with system tests that have none yet before all others. */
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const { config, cache } = this.ctx
    const place = ({ moduleId, project }: TestSpecification): number => {
      const file = relative(config.root, moduleId)
      const recorded = cache.getFileTestResults(`${project.name}:${file}`) !== undefined
      const { isolate, sequence } = project.config
      return 4 * sequence.groupOrder + (isolate ? 0 : 2) + (!recorded && isSlow(file) ? 0 : 1)
    }
    return (await super.sort(specifications)).sort((one, other) => place(one) - place(other))
  }
}
