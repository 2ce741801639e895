-- Once a day, and by hand, the entries of all wallets are held against the accounts that they add up to.
call allow_system('wallet_entries', 'millrace_worker', array['select']);
