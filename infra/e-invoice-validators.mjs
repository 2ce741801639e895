// `node infra/e-invoice-validators.mjs`: gets the outside validators of e-invoices (phive and Mustang, from Maven Central) for the
// test that runs them. Needs Java and Maven; without them, or without their repository, that test says that it does not run.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const MUSTANG = '2.26.0'
const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin'
/** A slow repository must not hold up a run of the tests, which need not have them. */
const LIMIT_MS = 90_000

const here = join(import.meta.dirname, 'e-invoice-validators')
const folder = join(import.meta.dirname, '..', '.tools', 'e-invoice-validators')
mkdirSync(folder, { recursive: true })
const { status, error } = spawnSync(
  'mvn',
  [
    ...['-q', '-B', '-f', join(here, 'pom.xml')],
    `${PLUGIN}:build-classpath`,
    `-Dmdep.outputFile=${join(folder, 'classpath.txt')}`,
    `${PLUGIN}:copy`,
    `-Dartifact=org.mustangproject:Mustang-CLI:${MUSTANG}`,
    `-DoutputDirectory=${folder}`,
    '-Dmdep.stripVersion=true',
  ],
  { stdio: 'inherit', timeout: LIMIT_MS },
)
if (status !== 0) {
  console.log(`The validators of e-invoices cannot be had here: ${error?.message ?? `Maven ended with ${status}`}.`)
  process.exit(1)
}
