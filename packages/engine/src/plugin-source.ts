/**
 * Where a plugin is fetched from: `docker#v1` and `acme/docker#v1` are short for repositories on GitHub, anything
 * else says so itself.
 */
export function canonicalPluginSource(source: string): string {
  const at = source.indexOf('#')
  const path = at < 0 ? source : source.slice(0, at)
  const version = at < 0 ? '' : source.slice(at)
  if (path.startsWith('.') || path.startsWith('/') || path.startsWith('\\') || path.includes(':'))
    return source
  const [owner, name, ...rest] = path.split('/')
  if (owner === undefined || rest.length > 0) return source
  const repository = name === undefined ? `buildkite-plugins/${owner}` : `${owner}/${name}`
  return `github.com/${repository}-buildkite-plugin${version}`
}
