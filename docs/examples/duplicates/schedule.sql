-- Calls the Edge Function every minute, with the secret that Vault has as hook_secret.
-- Needs pg_cron and pg_net; put your project's address in the place of <ref>.
select cron.schedule('flag-duplicates', '* * * * *', $$
  select net.http_post(
    url := 'https://<ref>.supabase.co/functions/v1/flag-duplicates',
    headers := jsonb_build_object('Authorization', 'Bearer ' || (select decrypted_secret from vault.decrypted_secrets where name = 'hook_secret')))
$$);
