import type { Json } from './schemas.ts'

/** The operations below an address, with the components that they refer to. */
export function cutDocument(document: Json, below: string): Json {
  const paths = Object.fromEntries(
    Object.entries(document['paths'] as Json).filter(([path]) => path.startsWith(below)),
  )
  const { securitySchemes, ...components } = document['components'] as Record<string, Json>
  const used = referencesIn(paths, components)
  const tags = tagsIn(paths)
  return {
    ...document,
    tags: (document['tags'] as Array<{ name: string }>).filter(({ name }) => tags.has(name)),
    paths,
    components: {
      ...Object.fromEntries(
        Object.entries(components).map(([kind, given]) => [
          kind,
          Object.fromEntries(
            Object.entries(given).filter(([name]) => used.has(`#/components/${kind}/${name}`)),
          ),
        ]),
      ),
      securitySchemes,
    },
  }
}

/** Also those of the components that they refer to. */
function referencesIn(paths: Json, components: Record<string, Json>): Set<string> {
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (typeof value !== 'object' || value === null) return
    for (const [key, child] of Object.entries(value)) {
      if (key !== '$ref' || typeof child !== 'string') visit(child)
      else if (!found.has(child)) {
        found.add(child)
        const [, , kind = '', name = ''] = child.split('/')
        visit(components[kind]?.[name])
      }
    }
  }
  visit(paths)
  return found
}

const tagsIn = (paths: Json): Set<string> =>
  new Set(
    Object.values(paths)
      .flatMap((path) => Object.values(path as Record<string, { tags?: string[] }>))
      .flatMap(({ tags = [] }) => tags),
  )
