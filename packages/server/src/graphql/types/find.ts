// Finds objects by slugs: that of the organization, and those of what is below it, with slashes between.
import { badRequest } from '../../lib/errors.ts'
import { urlOf, type Address, type ResourceType } from '../addresses.ts'
import { readIdOf } from '../ids.ts'
import { findAt, findById } from '../node.ts'
import { paramNames } from '../rest.ts'
import type { Field } from '../table.ts'

/** A query that finds one object. `hint` refuses slugs of another form. */
export const bySlugOrUuid = (type: ResourceType, hint: string): Field => ({
  type,
  args: { slug: 'ID', uuid: 'ID' },
  resolve: (_, { slug, uuid }: { slug?: string | null; uuid?: string | null }, context) =>
    slug
      ? findAt(context, type, addressOfSlug(type, slug, hint))
      : findById(context, readIdOf(type, uuid ?? '')),
})

export function addressOfSlug(type: ResourceType, slug: string, hint: string): Address {
  const names = paramNames(urlOf(type))
  const slugs = slug.split('/')
  if (slugs.length !== names.length || slugs.includes('')) throw badRequest(hint)
  return { org: '', ...Object.fromEntries(names.map((name, index) => [name, slugs[index] ?? ''])) }
}
