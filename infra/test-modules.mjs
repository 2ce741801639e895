// What test files import, compiled for Node itself. Vitest's own runner turns each use of an import into a call of a getter, which
// the compilers of V8 do not see through. Only the test files are left to it.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

/** To be changed with what this file writes for a source. */
const FORMAT = 1

const RELATIVE_IMPORT = /((?:^|\s)from |^import |\bimport\()("\.[^"]*)\.ts"/gm

/** Modules keep the address of their source, beside which they find their files. */
const forNode = (code, file) =>
  code
    .replace(RELATIVE_IMPORT, '$1$2.mjs"')
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(file)))

async function compile(file, output) {
  // Loaded here, since most runs have nothing to compile.
  const { transform } = await import('esbuild')
  const { code, map } = await transform(readFileSync(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcemap: 'external',
    sourcesContent: false,
    sourcefile: file,
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  })
  mkdirSync(dirname(output), { recursive: true })
  replace(`${output}.map`, map)
  replace(output, `${forNode(code, file)}//# sourceMappingURL=${output}.map\n`)
}

/** Another run may be reading the file. */
function replace(file, text) {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, text)
  renameSync(draft, file)
}

function readList(file) {
  try {
    const { format, compiled } = JSON.parse(readFileSync(file, 'utf8'))
    return format === FORMAT ? compiled : {}
  } catch {
    return {}
  }
}

/** Compiles into `folder` what has changed since it was last compiled; removes what has no source any more. */
export async function compileModules(root, folder, files) {
  const list = join(folder, 'compiled.json')
  const before = readList(list)
  const now = {}
  for (const file of files) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || file.endsWith('.d.ts')) continue
    const { mtimeMs, size } = statSync(file)
    now[relative(root, file)] = `${mtimeMs} ${size}`
  }
  const outputOf = name => join(folder, `${name.slice(0, -3)}.mjs`)
  const changed = Object.keys(now).filter(name => before[name] !== now[name])
  await Promise.all(changed.map(name => compile(join(root, name), outputOf(name))))
  const gone = Object.keys(before).filter(name => !(name in now))
  for (const name of gone) rmSync(outputOf(name), { force: true })
  if (changed.length + gone.length > 0) replace(list, JSON.stringify({ format: FORMAT, compiled: now }))
}
