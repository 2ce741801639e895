// Names the tests that passed only at their second try, with what failed first: such a test has a race, or the product has.
import type { Reporter, TestCase, TestModule } from 'vitest/node'

export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const found = modules.flatMap(({ children }) =>
      [...children.allTests()].filter(test => test.diagnostic()?.flaky === true),
    )
    if (found.length > 0)
      process.stdout.write(
        `\nPassed only at the second try (${found.length}). Find out why:\n${found.map(described).join('')}`,
      )
  }
}

const described = (test: TestCase): string => {
  const faults = (test.result().errors ?? []).map(({ message }) => message.split('\n').slice(0, 12).join('\n    '))
  return `  ${test.module.relativeModuleId} > ${test.fullName}\n${faults.map(fault => `    ${fault}\n`).join('')}`
}
