// Every environment variable of every process: its check, its default and what it is for, in one table.
// docs/configuration.md is generated from here (`npm run docs:config`) and a test holds the two together.

import {
  ConfigFault,
  choice,
  folderName,
  hostAndPort,
  integer,
  list,
  mailAddress,
  network,
  optional,
  schemes,
  secret,
  text,
  url,
} from './setting-values.ts'

type Setting<T> = { readonly help: string; readonly fallback: string | null; readonly parse: (text: string) => T }

const setting = <T>(help: string, fallback: string | null, parse: (text: string) => T): Setting<T> => ({
  help,
  fallback,
  parse,
})

/** A fallback of null means that the variable is required by the processes that use it. */
export const SETTINGS = {
  DATA_DIR: setting('Where the embedded services, the aggregator index and credentials.json live.', '.local', text),
  PORT_BASE: setting(
    'First port; api +0, identity +1, ingest +2, then the rest. Best below 32768: from there on Linux gives ports to outgoing connections.',
    '8080',
    integer(1, 65_000),
  ),
  WORKERS: setting(
    'Workers that `npm start` runs. Each bills two groups of subscriptions at a time; a second one uses a second core.',
    '2',
    integer(1, 4),
  ),
  HOST: setting('Address the HTTP servers listen on.', '127.0.0.1', text),
  LOG_LEVEL: setting(
    'Least severe log line that is written.',
    'info',
    choice('debug', 'info', 'warn', 'error', 'silent'),
  ),
  BASE_URL: setting(
    'Public address of the api, used in links. Empty: derived from HOST and PORT.',
    '',
    optional(url('http:', 'https:')),
  ),
  PORT: setting('Port this process listens on.', null, integer(0, 65_535)),
  METRICS_PORT: setting(
    'Port of /metrics and of the /health/ready that gives its reasons, for the processes that serve the public.',
    null,
    integer(0, 65_535),
  ),
  METRICS_HOST: setting(
    'Address that port listens on, and the one port of a worker or an aggregator, whatever HOST says.',
    '127.0.0.1',
    text,
  ),
  DATABASE_URL: setting(
    'PostgreSQL 15 or newer, with the login of the process: millrace_app for the api, millrace_gateway, millrace_identity, millrace_worker. `npm start` and `npm run migrate` take the owner, who must be able to create roles.',
    null,
    url('postgres:', 'postgresql:'),
  ),
  KEYS_DATABASE_URL: setting(
    'The same database for the api, with the login millrace_gateway: it reads the API keys of all platforms.',
    null,
    url('postgres:', 'postgresql:'),
  ),
  APP_DATABASE_URL: setting(
    'The same database for the worker, with the login millrace_app: it works for one platform at a time.',
    null,
    url('postgres:', 'postgresql:'),
  ),
  DATABASE_POOL_MAX: setting(
    'Most PostgreSQL connections one process opens. One that is idle for three minutes is closed.',
    '10',
    integer(1, 500),
  ),
  NATS_URL: setting('NATS server with JetStream, or several separated by commas.', null, text),
  NATS_REPLICAS: setting('Replicas of each usage stream; 3 on a cluster.', '1', integer(1, 5)),
  NATS_MONITOR_URL: setting(
    'Monitoring addresses of the NATS servers, separated by commas; the gateway asks them whether they sync before an ack.',
    '',
    list(url('http:', 'https:')),
  ),
  DURABILITY: setting(
    'strict: the gateway starts only if an ack means synced on three replicas. local: it starts on any broker and says what an ack means.',
    'strict',
    choice('strict', 'local'),
  ),
  PARTITIONS: setting(
    'Partitions of the usage log. Fixed once the streams exist: a reference must stay in its partition.',
    '4',
    integer(1, 256),
  ),
  AGGREGATOR_NAME: setting(
    'Names the folder of an aggregator under DATA_DIR/index; no two that run at once may share one. Empty: aggregator-<PORT>.',
    '',
    optional(folderName),
  ),
  CLICKHOUSE_URL: setting("ClickHouse's HTTP interface.", null, url('http:', 'https:')),
  CLICKHOUSE_DATABASE: setting('Database that holds the usage tables.', 'millrace', text),
  INGEST_URL: setting('Address of a gateway; the api forwards the ingest paths to it.', null, url('http:', 'https:')),
  IDENTITY_URL: setting(
    'Address of the identity host; the api is ready only when it is.',
    null,
    url('http:', 'https:'),
  ),
  IDENTITY_SECRET: setting(
    'At least 32 characters that cannot be guessed; seals what the identity host must not store in clear. The same for every process of it.',
    null,
    secret,
  ),
  DATA_SECRET: setting(
    'At least 32 characters that cannot be guessed; seals the secrets and credentials of webhooks in the database. The same for every api and every worker.',
    null,
    secret,
  ),
  OAUTH_REDIRECT_SCHEMES: setting(
    'Private-use schemes, separated by commas, that redirect addresses of OAuth clients may have besides https.',
    '',
    schemes,
  ),
  OAUTH_CLIENT_DOCUMENTS: setting(
    'Whether applications may identify themselves by the https address of a document (client ID metadata documents), which the identity host then fetches. refuse: every application registers.',
    'accept',
    choice('accept', 'refuse'),
  ),
  SMTP_URL: setting(
    'Where mail is handed over: smtps://user:password@host, or smtp:// with STARTTLS (without it to this machine, or with ?ignoreTLS=true). Empty: the identity host writes its mail to mail.mbox in DATA_DIR, and invoices are not sent by e-mail.',
    '',
    optional(url('smtp:', 'smtps:')),
  ),
  MAIL_FROM: setting(
    'Sender of mail: an address, or a name with one in angle brackets. Required with SMTP_URL. The api takes it as the sign that invoices can be sent by e-mail.',
    '',
    optional(mailAddress),
  ),
  VIES_URL: setting(
    'The REST service of VIES, https://ec.europa.eu/taxation_customs/vies/rest-api, which the worker asks whether the EU tax ids of customers exist. Empty: tax ids are checked by their form alone.',
    '',
    optional(url('https:', 'http:')),
  ),
  TAX_ENGINE_URL: setting(
    'Where the api and the worker ask what tax applies, for billing entities with the tax provider EXTERNAL: your adapter to a tax engine, with the protocol of operating.md. It need not be in OUTBOUND_HOSTS. Empty: no billing entity can use one.',
    '',
    optional(url('https:', 'http:')),
  ),
  TAX_ENGINE_SECRET: setting(
    'Sent to TAX_ENGINE_URL with every question, as Authorization: Bearer.',
    '',
    optional(text),
  ),
  TRUSTED_PROXIES: setting(
    'Addresses or networks, separated by commas, of the proxies in front of the api and the identity host, whose X-Forwarded-For names the caller. Empty: the caller is the address that connects.',
    '',
    list(network),
  ),
  INGEST_BODY_BYTES_MAX: setting('Largest request body the gateway reads.', '262144', integer(1_024, 16_777_216)),
  INGEST_BATCH_DEFAULT: setting(
    'Most events in one ingest-list request, for platforms that set no batch limit of their own.',
    '50',
    integer(1, 10_000),
  ),
  INGEST_BATCH_MAX: setting('Largest batch limit a platform may set for itself.', '1000', integer(1, 10_000)),
  INGEST_RATE_LIVE: setting(
    'Events per second a platform may send to LIVE, over all gateways, while it sets no limit of its own.',
    '10000',
    integer(1, 100_000_000),
  ),
  INGEST_RATE_TEST: setting(
    'Events per second a platform may send to TEST, over all gateways, while it sets no limit of its own.',
    '1000',
    integer(1, 100_000_000),
  ),
  INGEST_RATE_MAX: setting('Most events per second a platform may set for itself.', '100000', integer(1, 100_000_000)),
  API_RATE_CREDENTIAL: setting(
    'Calls a second that one credential may make at one api process, while its platform sets no rate of its own; ten times as many at once.',
    '2500',
    integer(1, 1_000_000),
  ),
  API_RATE_ADDRESS: setting(
    'Calls a second from one address, or network of IPv6, at one api process; ten times as many at once. 0: no limit by address.',
    '5000',
    integer(0, 1_000_000),
  ),
  INGEST_RECENT_MAX: setting(
    'References the gateway remembers to spare the log identical repeats.',
    '1000000',
    integer(0, 100_000_000),
  ),
  INGEST_CHUNKED: setting(
    'Whether the gateway takes bodies without Content-Length, in chunks. refuse: they are answered 411.',
    'accept',
    choice('accept', 'refuse'),
  ),
  INGEST_CONNECTIONS_MAX: setting(
    'Connections that may be open at one gateway; more are closed at once. Lower when the process may not open as many files.',
    '10000',
    integer(1, 10_000_000),
  ),
  FILE_BYTES_MAX: setting('Largest file of usage, in bytes.', '536870912', integer(1_024, 68_719_476_736)),
  FILE_STORAGE_BYTES_MAX: setting(
    'What the files of a platform may take in one environment, in bytes.',
    '21474836480',
    integer(1_024, 1_125_899_906_842_624),
  ),
  FILE_RATE_PERCENT: setting(
    "Percent of a platform's event limit that its files are sent at, so that what it sends itself has room.",
    '50',
    integer(1, 100),
  ),
  FILE_DOWNLOAD_SECONDS: setting(
    'Longest that one attempt at fetching a file of usage from its address may take.',
    '900',
    integer(1, 86_400),
  ),
  OUTBOX_RETENTION_DAYS: setting(
    'Days the outbox, and with it the log of webhook events, keeps a change that every consumer has passed. Audit records are kept for good.',
    '30',
    integer(30, 3_650),
  ),
  OUTBOUND_HTTP: setting(
    'Whether addresses that users give may be http:// on port 80, besides https:// on port 443.',
    'refuse',
    choice('refuse', 'allow'),
  ),
  OUTBOUND_HOSTS: setting(
    'host:port, separated by commas, that users may have asked whatever address it leads to, by http too. All else must lead to the public internet.',
    '',
    list(hostAndPort),
  ),
  OUTBOUND_NETWORKS: setting(
    'Addresses or networks, separated by commas, that users may have asked by https or http on any port, such as 127.0.0.0/8 for local use. Everybody who may create webhooks or files can then reach all that is there.',
    '',
    list(network),
  ),
  MCP_ORIGINS: setting(
    'Origins of browser pages, separated by commas, that may call the MCP endpoint, such as http://localhost:6274.',
    '',
    list(url('http:', 'https:')),
  ),
  FAILPOINT: setting(
    'For fault tests only: name:kill|hold|error at a named point, or @file, whose content says so.',
    '',
    text,
  ),
} as const

type Settings = typeof SETTINGS
export type SettingName = keyof Settings
export type Config<Names extends SettingName> = { readonly [Name in Names]: ReturnType<Settings[Name]['parse']> }

/** Their values are never printed: they are secrets, or carry one. */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set<SettingName>([
  'TAX_ENGINE_SECRET',
  'DATABASE_URL',
  'KEYS_DATABASE_URL',
  'APP_DATABASE_URL',
  'IDENTITY_SECRET',
  'DATA_SECRET',
  'SMTP_URL',
])

/** The named settings from `env`. Throws one Error that lists every fault at once. */
export function loadConfig<const Names extends readonly SettingName[]>(
  env: Record<string, string | undefined>,
  names: Names,
): Config<Names[number]> {
  const faults: string[] = []
  const entries = names.map(name => {
    const { fallback, parse, help } = SETTINGS[name]
    const value = env[name] ?? fallback
    if (value === null) {
      faults.push(`${name} is not set. ${help}`)
      return [name, undefined]
    }
    try {
      return [name, parse(value)]
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error
      const shown = SECRET_SETTINGS.has(name) ? '(not shown)' : JSON.stringify(value)
      faults.push(`${name}=${shown} ${error.message}. ${help}`)
      return [name, undefined]
    }
  })
  if (faults.length > 0) throw new Error(`The configuration has faults:\n  ${faults.join('\n  ')}`)
  return Object.fromEntries(entries) as Config<Names[number]>
}
