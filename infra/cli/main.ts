// npx millrace: the commands of an installation.
import { readFile, writeFile } from 'node:fs/promises'
import { catalogCommand, USAGE } from './catalog.ts'

const [command, ...args] = process.argv.slice(2)

async function main(): Promise<number> {
  if (command !== 'catalog') {
    console.error(USAGE)
    return command === undefined || command === 'help' || command === '--help' ? 0 : 1
  }
  return await catalogCommand(args, {
    env: process.env,
    fetch,
    readFile: path => readFile(path, 'utf8'),
    writeFile,
    print: line => console.log(line),
    complain: line => console.error(line),
  })
}

main()
  .then(code => {
    process.exitCode = code
  })
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  })
