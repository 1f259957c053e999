"""Numbers, units and amounts of money: reading them exactly, and converting them."""
