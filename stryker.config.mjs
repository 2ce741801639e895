// Mutation testing of the pure money code: npm run mutate -- shared/rating/models. It changes the code one expression at a time; a
// change that no test notices is a survivor. infra/mutate.mjs says which files and which tests.
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'stryker.vitest.config.mjs' },
  // The compiler is native, and has no programming interface that could rewrite a tsconfig; none is needed.
  tsconfigFile: 'none.json',
  // Texts for people are not money.
  mutator: { excludedMutations: ['StringLiteral'] },
  coverageAnalysis: 'perTest',
  // What runs once when a module is loaded needs every test again for each change: most of the time, for tables of settings.
  ignoreStatic: true,
  concurrency: 1,
  // A mutant that loops is ended this long after the time that its tests need. Beside other work it needs more.
  timeoutMS: 10_000,
  // On a busy machine the first run of the tests alone takes minutes.
  dryRunTimeoutMinutes: 30,
  tempDirName: '.tools/stryker',
  reporters: ['clear-text', 'progress-append-only', 'html', 'json'],
  htmlReporter: { fileName: '.tools/mutation.html' },
  jsonReporter: { fileName: '.tools/mutation.json' },
  // api is not among them: its unit tests of billing run the steps of the pipeline on whole invoices (MUTATED_TESTS).
  ignorePatterns: ['.tools', '.local', 'dist', 'bench', 'identity', 'ingest', 'aggregator', 'infra', 'docs', '.ci'],
  clearTextReporter: { allowEmojis: false, logTests: false },
}
