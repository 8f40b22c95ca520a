// Loads the bundled program together with what V8 made of it when it last ran, which is a third of the time that a start
// takes. Node does that by itself only from version 22 on.
import { isAscii } from 'node:buffer'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { constants, Script } from 'node:vm'

const [before, after] = ['(function (exports, require, module, __filename, __dirname) {', '\n})']

const loaded = new Map()
/** Those that V8 had nothing of yet, or of another Node. */
const fresh = new Map()

/** What the CommonJS module exports, and those beside it that it asks for. */
export function load(path) {
  const known = loaded.get(path)
  if (known !== undefined) return known.exports
  const module = { exports: {} }
  loaded.set(path, module)
  const bytes = readFileSync(path)
  // V8 keeps it in half the memory if it need not look for anything else.
  const source = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
  const place = placeOf(path, bytes)
  const script = new Script(before + source + after, {
    filename: pathToFileURL(path).href,
    columnOffset: -before.length,
    cachedData: readCode(place),
    importModuleDynamically: constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER ?? ((name) => import(name)),
  })
  if (script.cachedDataRejected !== false) fresh.set(place, script)
  const folder = dirname(path)
  const elsewhere = createRequire(path)
  const find = (name) => (name.startsWith('./') ? load(join(folder, name)) : elsewhere(name))
  const require = Object.assign(find, elsewhere)
  script.runInThisContext()(module.exports, require, module, path, folder)
  return module.exports
}

/** For the next start; called at the end, when V8 has compiled what is used. */
export function keepCode() {
  for (const [place, script] of fresh) {
    try {
      mkdirSync(dirname(place), { recursive: true })
      const partial = `${place}.${process.pid}`
      writeFileSync(partial, script.createCachedData())
      renameSync(partial, place)
    } catch {
      // An installation that this user cannot write to starts as it did.
      return
    }
  }
}

function readCode(place) {
  try {
    return readFileSync(place)
  } catch {
    return undefined
  }
}

/** V8 takes only what it made itself, under the same options; of the source it looks at nothing but the length. */
const maker = [process.version, process.arch, process.execArgv, process.env.NODE_OPTIONS]

function placeOf(path, bytes) {
  const hash = createHash('sha256').update(JSON.stringify(maker)).update(bytes).digest('hex')
  return join(dirname(path), 'code', `${basename(path)}-${hash.slice(0, 16)}`)
}
