// `node infra/install.mjs`: installs what is missing of the packages, and builds nothing.
import { prepareSources } from './bootstrap.mjs'

await prepareSources()
