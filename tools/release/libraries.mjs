// Finds the libraries that bundled files come from, with their licenses and their checksums in the lock file.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../prepare.mjs'

/** The folder of a library in a path, as the lock file names it. */
const place = /(?:packages\/[^/]+\/)?(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+/

export const readLock = () => JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages

/** Files of our own packages belong to no library. */
export function librariesOf(files) {
  const lock = readLock()
  const places = new Set(files.flatMap((file) => place.exec(file)?.[0].slice(0, -1) ?? []))
  const found = [...places].map((location) => readLibrary(location, lock[location]))
  // The same version may be installed in several folders.
  const libraries = new Map(found.map((library) => [`${library.name} ${library.version}`, library]))
  return [...libraries.values()].sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

function readLibrary(location, locked) {
  const folder = join(root, location)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { name, version, author, homepage } = manifest
  const license = licenseOf(manifest)
  if (license === undefined) throw new Error(`${location} names no license.`)
  if (locked?.version !== version)
    throw new Error(`${location} is version ${version}, but the lock file says ${locked?.version}.`)
  return {
    name,
    version,
    license,
    integrity: locked.integrity,
    owner: typeof author === 'string' ? author : author?.name,
    homepage,
    texts: licenseTexts(folder),
  }
}

/** Old packages have a list of licenses, which means that one may choose. */
const licenseOf = ({ license, licenses }) => license ?? licenses?.map(({ type }) => type).join(' OR ')

const licenseFile = /^(un)?licen[cs]e|^copying|^notice|\.license\.txt$/i

function licenseTexts(folder) {
  const names = readdirSync(folder).filter((name) => licenseFile.test(name) && !/\.[cm]?[jt]s$/.test(name))
  const texts = names.sort().map((name) => readText(join(folder, name)))
  return texts.length > 0 ? [...new Set(texts)] : licenseInReadme(folder)
}

function licenseInReadme(folder) {
  const name = readdirSync(folder).find((file) => /^readme(\.|$)/i.test(file))
  const section =
    name && /^#+ *licen[cs]e.*\n+([^]*?)(?=^#|(?![^]))/im.exec(readText(join(folder, name)))?.[1]
  return section ? [section.trim()] : []
}

const readText = (path) => readFileSync(path, 'utf8').replaceAll('\r\n', '\n').trim()

/** The notices that the licenses of these libraries ask for. Each text appears once. */
export function describeLicenses(libraries) {
  const named = new Map()
  for (const library of libraries) {
    const text = library.texts.join('\n\n') || withoutText(library)
    named.set(text, [...(named.get(text) ?? []), `${library.name} ${library.version} (${library.license})`])
  }
  const parts = [...named].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`)
  return [`Millrace contains parts of ${libraries.length} libraries.\n`, ...parts].join(
    `\n${'-'.repeat(80)}\n\n`,
  )
}

const withoutText = ({ license, owner, homepage }) =>
  [`The authors chose the license ${license} and publish no text with the library.`, owner, homepage]
    .filter((line) => line !== undefined)
    .join('\n')
