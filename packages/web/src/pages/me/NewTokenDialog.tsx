import { useQueryClient } from '@tanstack/react-query'
import { createToken, tokensQuery } from './queries.ts'
import { allScopes, commandScopes } from './scopes.ts'
import { TokenDialog } from './TokenDialog.tsx'

interface Props {
  /** The description that `millrace login` proposes; undefined: the person describes the token. */
  proposed: string | undefined
  onClose: () => void
}

export function NewTokenDialog({ proposed, onClose }: Props) {
  const queryClient = useQueryClient()
  return (
    <TokenDialog
      title="New access token"
      doneTitle="Your new token"
      offered={allScopes}
      proposed={proposed === undefined ? undefined : { description: proposed, scopes: commandScopes }}
      mayLastForever
      mayBeMachines
      onCreate={async ({ days, isMachine, ...body }, key) => {
        const made = await createToken({ ...body, expires_in_days: days, is_machine: isMachine }, key)
        await queryClient.invalidateQueries({ queryKey: tokensQuery().queryKey })
        return made
      }}
      onClose={onClose}
    />
  )
}
