// The architecture as rules: who may import whom. Checked by `npm run arch`.
const PROCESSES = ['ingest', 'aggregator', 'api', 'identity']

const { readdirSync } = require('node:fs')

/** The folders of api/modules from the lowest up; one that is not named here stands where it may import what bills. */
const NAMED_LAYERS = [
  ['accounts', 'catalog', 'custom-fields'],
  ['parties'],
  ['coupons', 'approvals'],
  ['subscriptions'],
  ['billing', 'invoices'],
  ['wallets'],
  ['ingestion', 'alerts', 'payments', 'test-clocks'],
  ['webhooks'],
]
const NAMED = NAMED_LAYERS.flat()
const OTHERS = readdirSync('api/modules', { withFileTypes: true })
  .filter(entry => entry.isDirectory() && !NAMED.includes(entry.name))
  .map(({ name }) => name)
const API_LAYERS = NAMED_LAYERS.map(folders => (folders.includes('payments') ? [...folders, ...OTHERS] : folders))

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-dev-dependency-in-product',
      severity: 'error',
      from: { path: `^(${PROCESSES.join('|')}|shared)/`, pathNot: '\\.test\\.ts$|/testing/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
    ...PROCESSES.map(name => ({
      name: `${name}-imports-no-other-process`,
      severity: 'error',
      from: { path: `^${name}/`, pathNot: '\\.(it|fault)\\.test\\.ts$' },
      to: { path: `^(${PROCESSES.filter(other => other !== name).join('|')}|infra|bench)/` },
    })),
    {
      name: 'shared-imports-no-process',
      severity: 'error',
      from: { path: '^shared/', pathNot: '^shared/testing/' },
      to: { path: `^(${PROCESSES.join('|')}|infra|bench)/` },
    },
    {
      name: 'rating-and-billing-are-pure',
      comment: 'Money is a function of its inputs: no I/O, no database, no clock.',
      severity: 'error',
      from: { path: '^shared/(rating|billing)/', pathNot: '\\.test\\.ts$' },
      to: {
        pathNot:
          '^shared/(rating|billing)/|^shared/(ids|decimal|codes/iso-codes|money|time|errors|pausing-work|group-by)\\.ts$|^node_modules/(temporal-polyfill|temporal-spec)/',
      },
    },
    {
      name: 'attribution-is-pure',
      comment:
        'Which subscription an event belongs to is a function of its inputs, the same for billing and for the trace.',
      severity: 'error',
      from: { path: '^shared/attribution/', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^shared/attribution/|^shared/(ids|decimal|time|errors)\\.ts$' },
    },
    // What a module is of is below it: what is sold and who may, who buys and bills, what they agreed on, what is billed for it.
    // An invoice is written by billing and knows none of it; which of the two may import the other is a rule of its own.
    ...API_LAYERS.map((folders, layer) => ({
      name: `layer-of-${folders.join('-and-')}`,
      comment: 'A module imports modules of its own folder and of the layers below it.',
      severity: 'error',
      from: { path: `^api/modules/(${folders.join('|')})/`, pathNot: '\\.test\\.ts$|/testing/' },
      to: {
        path: '^api/modules/[^/]+/',
        pathNot: `^api/modules/(${[...API_LAYERS.slice(0, layer).flat(), ...(folders.includes('billing') ? folders : ['$1'])].join('|')})/`,
      },
    })),
    {
      name: 'invoices-know-no-billing',
      comment: 'A document takes lines from whatever makes it; what is owed knows documents, never the reverse.',
      severity: 'error',
      from: { path: '^api/modules/invoices/', pathNot: '\\.test\\.ts$|/testing/' },
      to: { path: '^api/modules/(billing|subscriptions|alerts|ingestion)/' },
    },
    {
      name: 'only-local-days-and-periods-know-temporal',
      severity: 'error',
      from: {
        path: '^(shared|api|ingest|aggregator)/',
        pathNot: '^shared/billing/(local-days|periods)\\.ts$|\\.test\\.ts$',
      },
      to: { path: 'node_modules/temporal-polyfill' },
    },
    {
      name: 'connections-are-hidden-in-shared-database',
      comment: 'A query runs in a transaction of a tenant, or in a named system job.',
      severity: 'error',
      from: { path: '^(shared|api|ingest|aggregator|identity|infra|bench)/', pathNot: '^shared/database/' },
      to: { path: '^shared/database/connection/pool\\.ts' },
    },
    {
      name: 'uws-is-hidden-in-ingest-http',
      severity: 'error',
      from: { path: '^ingest/', pathNot: '^ingest/http/' },
      to: { path: 'node_modules/@btc-vision/uwebsockets' },
    },
    {
      name: 'no-test-code-in-product',
      severity: 'error',
      from: { path: `^(${PROCESSES.join('|')}|shared|infra)/`, pathNot: '\\.test\\.ts$|/testing/' },
      to: { path: '/testing/|\\.test\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // bench/k6/*.js run inside k6, which brings its own modules.
    exclude: { path: '^(dist|node_modules|\\.local|\\.tools)/|^bench/k6/.*\\.js$' },
    parser: 'swc',
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
}
