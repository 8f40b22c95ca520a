/*
 * The software bill of materials of a release, in CycloneDX.
 *
 * `npm sbom` cannot make it. In the clone it lists the tools of development too, or, without these, none of the libraries of
 * the pages. In an installation it lists no bundled library, because none is a dependency of the package. So this one lists the
 * libraries whose files are in the package, and what npm installs beside it.
 */
import { createHash } from 'node:crypto'

export function describeMaterials({ version, license, date, sha256, libraries, binaries, optional }) {
  const reference = purl('millrace', version)
  const required = [...libraries, ...binaries].map((library) => describe(library, 'required'))
  const components = [...required, ...optional.map(describeDatabase)]
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(sha256)}`,
    version: 1,
    metadata: {
      timestamp: date.toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: {
        type: 'application',
        'bom-ref': reference,
        name: 'millrace',
        version,
        licenses: licensesOf(license),
        purl: reference,
        hashes: [{ alg: 'SHA-256', content: sha256 }],
      },
    },
    components,
    dependencies: [
      { ref: reference, dependsOn: components.map((component) => component['bom-ref']) },
      ...components.map((component) => ({ ref: component['bom-ref'], dependsOn: [] })),
    ],
  }
}

function describe({ name, version, license, integrity }, scope) {
  const [group, plain] = name.startsWith('@') ? name.split('/') : [undefined, name]
  const [algorithm, digest] = integrity.split('-')
  if (algorithm !== 'sha512') throw new Error(`The lock file has no SHA-512 of ${name}.`)
  return {
    type: 'library',
    'bom-ref': purl(name, version),
    ...(group === undefined ? {} : { group }),
    name: plain,
    version,
    scope,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    licenses: licensesOf(license),
    purl: purl(name, version),
  }
}

/** The versions of these packages begin with the version of the PostgreSQL in them, which is what vulnerabilities name. */
function describeDatabase(library) {
  const [postgres] = /^\d+\.\d+/.exec(library.version)
  const described = describe(library, 'optional')
  const inside = {
    type: 'application',
    'bom-ref': `${described['bom-ref']}#postgresql`,
    name: 'postgresql',
    version: postgres,
    cpe: `cpe:2.3:a:postgresql:postgresql:${postgres}:*:*:*:*:*:*:*`,
    licenses: licensesOf('PostgreSQL'),
  }
  return { ...described, components: [inside] }
}

const purl = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`

/** Most licenses are one identifier of SPDX, the others an expression of several. */
const licensesOf = (license) =>
  /^[\w.+-]+$/.test(license)
    ? [{ license: { id: license } }]
    : [{ expression: license.replace(/^\((.*)\)$/, '$1') }]

/** The same package has the same number. */
function uuidOf(sha256) {
  const digits = createHash('sha256').update(sha256).digest('hex')
  const variant = ((Number.parseInt(digits[16], 16) & 3) | 8).toString(16)
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-')
}
