import { prepare } from './prepare.mjs'

await prepare({ dev: true })
await import('../proofs/dist/fuzz/main.js')
