import { prepare } from './prepare.mjs'

await prepare({ dev: true })
await import('../bench/dist/fuzz/main.js')
