// Every document of four versions of the Terraform provider is valid, so that a plan never fails for what a query names.
import { buildClientSchema, getIntrospectionQuery, parse, validate, type IntrospectionQuery } from 'graphql'
import { beforeAll, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anAdmin, anOrganization } from '../../test/builders.ts'
import { graphqlData } from '../../test/graphql/client.ts'
import { providerOperations, type providerVersions } from '../../test/graphql/provider-operations.ts'

const app = useApp()

// Clients validate with the schema that the server shows.
let schema: ReturnType<typeof buildClientSchema>
beforeAll(async () => {
  const { token } = await anAdmin(app, await anOrganization(app))
  const shown = (await graphqlData(app, token, getIntrospectionQuery())) as unknown as IntrospectionQuery
  schema = buildClientSchema(shown)
})

const operationsOf = (version: (typeof providerVersions)[number]) =>
  providerOperations.filter(({ versions }) => versions.includes(version))

it.each([
  ['1.20.0', 62],
  ['1.27.1', 65],
  ['1.34.2', 69],
  ['1.38.0', 70],
] as const)('the documents of version %s are valid, all %i', (version, count) => {
  const operations = operationsOf(version)
  expect(new Set(operations.map(({ name }) => name)).size).toBe(count)
  const problems = operations.flatMap(({ name, document }) =>
    validate(schema, parse(document)).map(({ message }) => `${name}: ${message}`),
  )
  expect(problems).toEqual([])
})
