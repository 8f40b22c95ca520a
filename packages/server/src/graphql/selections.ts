// Looks ahead: whether a query asks for a field further down, so that lists read no more than that.
import { Kind, type GraphQLResolveInfo, type SelectionNode } from 'graphql'

/** `selects(info, 'edges', 'node', 'jobs')`: whether the field has `edges { node { jobs … } }`. */
export function selects(info: GraphQLResolveInfo, ...path: string[]): boolean {
  const seen = new Set<string>()
  const has = (selections: readonly SelectionNode[], [name, ...rest]: string[]): boolean =>
    selections.some((selection) => {
      if (selection.kind === Kind.INLINE_FRAGMENT)
        return has(selection.selectionSet.selections, [name ?? '', ...rest])
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const key = `${selection.name.value} ${rest.length}`
        if (seen.has(key)) return false
        seen.add(key)
        const fragment = info.fragments[selection.name.value]
        return fragment !== undefined && has(fragment.selectionSet.selections, [name ?? '', ...rest])
      }
      if (selection.name.value !== name) return false
      return rest.length === 0 || has(selection.selectionSet?.selections ?? [], rest)
    })
  return info.fieldNodes.some((node) => has(node.selectionSet?.selections ?? [], path))
}
