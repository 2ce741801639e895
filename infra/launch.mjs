// Runs a bundle (infra/bundle.mjs) with the code that V8 made of it at the build. To make it anew, of megabytes of text, was half of the
// processor time of a start. Another version of Node makes it anew, and so does a copy of dist/ elsewhere: the code names its files.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Script } from 'node:vm'

/** A script cannot import by itself; what a bundle imports when it needs it are packages, which are the same from here. */
const PARAMETERS = 'exports, require, module, __filename, __dirname, importModule'
const importModule = name => import(name)

const codeOf = (bundle, place) => `${bundle}.${createHash('sha256').update(place).digest('hex').slice(0, 8)}.code`

/** The bundle as a script that lies at `place`, compiled already where its code is kept; both are absolute paths. */
export function scriptOf(bundle, place) {
  const code = codeOf(bundle, place)
  // Of ASCII alone (infra/bundle.mjs), which read as Latin 1 needs no decoding.
  return new Script(`(function (${PARAMETERS}) {${readFileSync(bundle, 'latin1')}\n})`, {
    filename: place,
    // V8 passes over what another version or other flags of it made.
    ...(existsSync(code) ? { cachedData: readFileSync(code) } : {}),
  })
}

function run(script, bundle) {
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, dirname(bundle), importModule)
}

/** Runs the bundle as CommonJS. */
export const launch = bundle => run(scriptOf(bundle, bundle), bundle)

/** Runs the bundle, which will lie at `place`, and returns the code that V8 had to make for it, with the path to keep it at. */
export function codeFor(bundle, place) {
  const script = scriptOf(bundle, place)
  try {
    run(script, bundle)
  } catch {
    // It refuses its settings when all of it is loaded.
  }
  return { path: codeOf(bundle, place), code: script.createCachedData() }
}
