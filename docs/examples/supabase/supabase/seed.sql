-- A handful of tickets to try. Loading them again changes nothing.
select key from upsert_projects('[{"key": "SHOP", "name": "Shop", "description": "The web shop: cart, payments and delivery."}]');
select key from upsert_tickets('[
  {"key": "SHOP-1", "project_key": "SHOP", "status": "Done", "name": "Customers are charged twice",
   "description": "Two charges for one order when the payment page is reloaded.",
   "notes": [{"status": "Done", "note": "Fixed: the idempotency key of a charge is now the number of the order."}]},
  {"key": "SHOP-2", "project_key": "SHOP", "status": "In Progress", "name": "Cart is empty after login",
   "description": "The cart of a guest is not merged into the cart of their account."},
  {"key": "SHOP-3", "project_key": "SHOP", "status": "To Do", "name": "Tracking link in the delivery mail",
   "description": "The mail that announces a delivery should link to the carrier''s tracking page."}]');
