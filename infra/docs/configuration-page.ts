// docs/configuration.md, from the one table of settings.
import { SETTINGS } from '../../shared/config/config.ts'

/** The whole page as Markdown. */
export function configurationPage(): string {
  const rows = Object.entries(SETTINGS).map(([name, { help, fallback }]) => {
    const shown = fallback === null ? 'required' : fallback === '' ? 'empty' : `\`${fallback}\``
    return `| \`${name}\` | ${shown} | ${help} |`
  })
  return [
    '# Configuration',
    '',
    'Every process reads its settings from environment variables, checks them all at start, and names every fault at once.',
    '`npm start` sets what the processes need; in a deployment of your own you set them. A required variable has no default.',
    'This page is generated (`npm run docs:config`); a test fails when it is not up to date.',
    '',
    '| variable | default | what it is for |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
