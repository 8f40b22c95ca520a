// Limits of a document, checked before it is executed. `first` multiplies what is below it.
import {
  getNamedType,
  getOperationRootType,
  GraphQLError,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  visit,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { defaultFirst, mostFirst } from './connections.ts'

export const limits = {
  documentBytes: 65_536,
  tokens: 2000,
  depth: 15,
  /** Questions about the schema are deep by nature. */
  introspectionDepth: 25,
  aliases: 40,
  /** Validation compares fields of one name with each other; those with fields of their own take longest. */
  fieldsOfOneName: 40,
  objectsOfOneName: 20,
  fragments: 80,
  rootFields: 10,
  cost: 50_000,
  milliseconds: 30_000,
}

/** Checks what needs no schema, before validation, whose time depends on these. */
export function checkShape(document: DocumentNode): void {
  const fragments = fragmentsOf(document)
  checkNumbers(document)
  const depthOf = eachOnce(fragments, ({ selectionSet }) => depthIn(selectionSet))
  const depthIn = ({ selections }: SelectionSetNode): number =>
    Math.max(
      0,
      ...selections.map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return depthOf(selection.name.value)
        if (selection.kind === Kind.INLINE_FRAGMENT) return depthIn(selection.selectionSet)
        return 1 + (selection.selectionSet === undefined ? 0 : depthIn(selection.selectionSet))
      }),
    )
  const rootsOf = eachOnce(fragments, ({ selectionSet }) => rootsIn(selectionSet))
  const rootsIn = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return sum + rootsOf(selection.name.value)
      return sum + (selection.kind === Kind.FIELD ? 1 : rootsIn(selection.selectionSet))
    }, 0)
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    refuseAbove('root fields', rootsIn(definition.selectionSet), limits.rootFields)
    const isIntrospection = definition.selectionSet.selections.every(
      (selection) => selection.kind === Kind.FIELD && selection.name.value.startsWith('__'),
    )
    const most = isIntrospection ? limits.introspectionDepth : limits.depth
    refuseAbove('levels', depthIn(definition.selectionSet), most)
  }
}

function checkNumbers(document: DocumentNode): void {
  let [aliases, spreads] = [0, 0]
  const [fields, objects] = [new Map<string, number>(), new Map<string, number>()]
  visit(document, {
    Field({ alias, name, selectionSet }) {
      if (alias !== undefined) aliases++
      const counts = selectionSet === undefined ? fields : objects
      const key = (alias ?? name).value
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    FragmentSpread: () => void spreads++,
    InlineFragment: () => void spreads++,
  })
  refuseAbove('aliases', aliases, limits.aliases)
  refuseAbove('fragments', spreads, limits.fragments)
  refuseAbove('fields of one name', Math.max(0, ...fields.values()), limits.fieldsOfOneName)
  refuseAbove('objects of one name', Math.max(0, ...objects.values()), limits.objectsOfOneName)
}

function refuseAbove(what: string, count: number, most: number): void {
  if (count > most)
    throw new GraphQLError(`The document has more than ${most} ${what}. Send several smaller ones.`)
}

/** Throws if the answer may have too many objects. The document is valid. */
export function checkCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  const ofFragment = eachOnce(fragmentsOf(document), ({ selectionSet, typeCondition }) =>
    ofSet(selectionSet, schema.getType(typeCondition.name.value)),
  )
  const ofSet = (set: SelectionSetNode, type: GraphQLNamedType | undefined): number =>
    set.selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return sum + ofFragment(selection.name.value)
      if (selection.kind === Kind.FIELD) return sum + ofField(selection, type)
      const condition = selection.typeCondition?.name.value
      return sum + ofSet(selection.selectionSet, condition === undefined ? type : schema.getType(condition))
    }, 0)
  const ofField = (field: FieldNode, type: GraphQLNamedType | undefined): number => {
    if (field.selectionSet === undefined || (!isObjectType(type) && !isInterfaceType(type))) return 0
    const definition = type.getFields()[field.name.value]
    const named = definition && getNamedType(definition.type)
    if (definition === undefined || !isCompositeType(named)) return 0
    const isPaged = definition.args.some(({ name }) => name === 'first')
    return 1 + (isPaged ? firstOf(field, operation, variables) : 1) * ofSet(field.selectionSet, named)
  }
  const cost = ofSet(operation.selectionSet, getOperationRootType(schema, operation))
  if (cost > limits.cost) {
    throw new GraphQLError(
      `The query may return ${cost} objects, more than ${limits.cost}. Lower \`first\`, which multiplies what is below it, and read further pages with \`after\`.`,
    )
  }
}

function firstOf(
  field: FieldNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): number {
  const value = field.arguments?.find(({ name }) => name.value === 'first')?.value
  if (value?.kind === Kind.INT) return clamp(Number(value.value))
  if (value?.kind !== Kind.VARIABLE) return defaultFirst
  const name = value.name.value
  const given = variables[name]
  if (typeof given === 'number') return clamp(given)
  const preset = variableDefinitions.find(({ variable }) => variable.name.value === name)?.defaultValue
  return given === undefined && preset?.kind === Kind.INT ? clamp(Number(preset.value)) : defaultFirst
}

const clamp = (first: number) => Math.min(Math.max(first, 0), mostFirst)

const fragmentsOf = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
    ),
  )

/** Measures each fragment once, so that fragments that spread each other twice take no time. A circle counts as nothing. */
function eachOnce(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  measure: (fragment: FragmentDefinitionNode) => number,
): (name: string) => number {
  const known = new Map<string, number>()
  return (name) => {
    const found = known.get(name)
    const fragment = fragments.get(name)
    if (found !== undefined || fragment === undefined) return found ?? 0
    known.set(name, 0)
    const result = measure(fragment)
    known.set(name, result)
    return result
  }
}
