import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { ClusterLayout } from '../cluster/ClusterLayout.tsx'
import { NewTokenDialog } from './NewTokenDialog.tsx'
import { Tokens } from './Tokens.tsx'

export function ClusterTokensPage() {
  const address = useParams({ from: '/organizations/$org/clusters/$cluster/tokens' })
  const [isNewOpen, setNewOpen] = useState(false)
  return (
    <ClusterLayout
      address={address}
      name="tokens"
      subtitle="Agents of this cluster connect with one of them."
      actions={
        <Button isWrite kind="primary" icon="plus" onClick={() => setNewOpen(true)}>
          New token
        </Button>
      }
    >
      {() => (
        <>
          <Tokens address={address} />
          {isNewOpen && <NewTokenDialog address={address} onClose={() => setNewOpen(false)} />}
        </>
      )}
    </ClusterLayout>
  )
}
