// `npm run docs:config`: writes the generated pages and pictures.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationPage } from './configuration-page.ts'
import { drawPrice } from './pricing-chart.ts'
import { readExamples } from './pricing-models.ts'

writeFileSync('docs/configuration.md', configurationPage())
for (const example of readExamples())
  if (example.picture) writeFileSync(join('docs', example.picture), drawPrice(example))
