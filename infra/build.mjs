// `npm run build`: installs and builds what is missing, and nothing else.
import { prepare } from './bootstrap.mjs'

await prepare()
