// Inputs of mutations as bodies of REST.

/** The argument of a mutation. */
export type Input<Fields = object> = { input: Fields & { clientMutationId?: string | null } }

/** The given fields under their names in REST. `fields`: names of GraphQL to names of REST. */
export function bodyOf(input: object, fields: Readonly<Record<string, string>>): Record<string, unknown> {
  const given = Object.entries(input).flatMap(([name, value]): Array<[string, unknown]> => {
    const known = fields[name]
    return known === undefined ? [] : [[known, value]]
  })
  return Object.fromEntries(given)
}

/** The same for fields that REST refuses as null: null means that they stay as they are. */
export function givenOf(input: object, fields: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(bodyOf(input, fields)).filter(([, value]) => value !== null && value !== undefined),
  )
}
