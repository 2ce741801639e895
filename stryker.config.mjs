// Mutation testing of the pure money code: npm run mutate. It changes the code one expression at a time; a change that no test notices
// is a survivor. One file: npm run mutate -- --mutate shared/rating/models/tiered.ts
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'stryker.vitest.config.mjs' },
  // The compiler is native, and has no programming interface that could rewrite a tsconfig; none is needed.
  tsconfigFile: 'none.json',
  mutate: [
    'shared/rating/**/*.ts',
    'shared/billing/**/*.ts',
    '!shared/{rating,billing}/**/*.test.ts',
    '!shared/{rating,billing}/**/testing/**',
  ],
  // Texts for people are not money.
  mutator: { excludedMutations: ['StringLiteral'] },
  coverageAnalysis: 'perTest',
  concurrency: 1,
  tempDirName: '.tools/stryker',
  reporters: ['clear-text', 'html'],
  htmlReporter: { fileName: '.tools/mutation.html' },
  ignorePatterns: [
    '.tools',
    '.local',
    'dist',
    'bench',
    'identity',
    'ingest',
    'aggregator',
    'api',
    'infra',
    'docs',
    '.ci',
  ],
  clearTextReporter: { allowEmojis: false, logTests: false },
}
